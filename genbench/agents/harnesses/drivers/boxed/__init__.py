"""The drivers of harnesses whose commands run in the box of an image. Each takes the plain driver.

`genbench_box` is on PYTHONPATH; nothing else of genbench is.
"""
