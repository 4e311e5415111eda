"""What people write in a suite file, and where shipped files are found."""
