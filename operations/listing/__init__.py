"""Lists of growing tables: filtered, sorted by a whitelist and paged by key, for pages and API alike."""
