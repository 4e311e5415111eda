from pathlib import Path

builtin_config_dir = Path(__file__).parent
