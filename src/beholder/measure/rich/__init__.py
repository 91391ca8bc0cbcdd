"""What models of rich feedback say of single images, beside what people said of them."""
