/** Dies at the second message it gets. */
let messages = 0;
self.onmessage = () => {
  messages++;
  if (messages === 2) throw new Error("out of order");
};
