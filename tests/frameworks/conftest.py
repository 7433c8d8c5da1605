"""Where the adapters stand, and what the frameworks read before they are imported."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "docs" / "frameworks"))
# litellm looks for prices in the network otherwise.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
