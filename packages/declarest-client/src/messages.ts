/** Messages of the server as front ends show them. */

/** The largest numbers of the kinds of integers. */
const LARGEST = [7, 8, 15, 16, 23, 24, 31, 32, 53, 63, 64].map((bits) => String(2n ** BigInt(bits) - 1n));
const BOUNDS = / from -?\d+ to (\d+)(?:, as a string beyond 53 bits)?/;
const GOT_INTEGER = /, got "?-?\d+"?$/;

/** Without bounds of the kind of a number, unless an integer is beyond them: they say nothing to the user of a form. */
export const readable = (message: string): string =>
  GOT_INTEGER.test(message)
    ? message
    : message.replace(BOUNDS, (text, largest: string) => (LARGEST.includes(largest) ? '' : text));

/** Names the field, unless the message begins with its name: validators of an application may write it. */
export function aboutField(field: string, message: string): string {
  const text = readable(message);
  return field === '' || text.startsWith(`${field} `) ? text : `${field} ${text}`;
}
