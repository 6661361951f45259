"""What the site is made of at build time: pages of learners, the gallery, files of the root."""
