"""Documents to PDF. ``materials.rendering.documents`` is the way in."""
