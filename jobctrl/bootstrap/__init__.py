"""What runs before the packages are installed. Standard library only: the virtual environment does not exist yet."""
