/** Messages of the server as front ends show them. */

/** The bounds of a kind of number say something to a person only where an integer is beyond them. */
const KIND_BOUNDS = / from -?\d+ to \d+(?:, as a string beyond 53 bits)?(?!.*, got "?-?\d+"?$)/;

/** Without what says nothing to the user of a form. */
export const readable = (message: string): string => message.replace(KIND_BOUNDS, '');

/** Names the field, unless the message begins with its name: validators of an application may write it. */
export function aboutField(field: string, message: string): string {
  const text = readable(message);
  return field === '' || text.startsWith(`${field} `) ? text : `${field} ${text}`;
}
