"""What the frameworks read before they are imported."""

import os

# litellm looks for prices in the network otherwise.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
