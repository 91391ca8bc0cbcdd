"""Better images from the generator itself: guided sampling, optimised noise, words, and tuned weights."""
