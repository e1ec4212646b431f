/** What requests to the servers of others need: addresses that nobody else answers, and answers of a limited size. */

export const isLoopback = ({ hostname }: URL): boolean => ['localhost', '127.0.0.1', '[::1]'].includes(hostname);

/** @param tooLarge what the error says of an answer of more bytes @throws Error */
export async function readBody({ body }: Response, mostBytes: number, tooLarge: string): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += (chunk as Uint8Array).length;
    if (size > mostBytes) throw new Error(tooLarge);
    chunks.push(chunk as Uint8Array);
  }
  return Buffer.concat(chunks);
}
