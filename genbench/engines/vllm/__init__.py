"""vLLM in this process. Only `engine` and `served` import the package `vllm`."""
