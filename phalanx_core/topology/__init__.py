"""The compiled view of a cluster: levels, domains and leaves."""
