"""Keys of tenants, and files sealed with them: what is kept outside of the database is unreadable
without its key, and gone for good when that is destroyed."""
