"""The risk of a question: how likely its answer is wrong about its images, by what the filters saw in them."""
