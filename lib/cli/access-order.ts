/** Compares two accesses, read from the texts of the access table. */

/** One requirement on a valid token: any of these roles, or a policy. */
type Requirement = ReadonlySet<string>;

type ParsedAccess = 'public' | 'nobody' | readonly Requirement[];

/** Whether every user who has the inner access also has the outer access, for any set of roles. */
export function isWithin(inner: string, outer: string): boolean {
  if (inner === outer) return true;
  const [innerAccess, outerAccess] = [parseAccess(inner), parseAccess(outer)];
  if (innerAccess === 'nobody' || outerAccess === 'public') return true;
  if (innerAccess === 'public' || outerAccess === 'nobody') return false;
  return outerAccess.every((allowed) =>
    innerAccess.some((required) => [...required].every((name) => allowed.has(name))),
  );
}

/** Parses the text of `describeAccess`. */
function parseAccess(text: string): ParsedAccess {
  if (text === 'public' || text === 'nobody') return text;
  if (text === 'any token') return [];
  const requirements = split(text, ', and ').map((part) => new Set(split(part, ' or ')));
  // Every token has the base role.
  return requirements.filter((names) => !names.has('USER'));
}

/** Splits at a separator, except within a quoted name. */
function split(text: string, separator: string): string[] {
  const parts = [''];
  for (const [piece] of text.matchAll(new RegExp(`"(?:[^"\\\\]|\\\\.)*"|${separator}|.`, 'gs')))
    if (piece === separator) parts.push('');
    else parts.push(`${parts.pop() ?? ''}${piece}`);
  return parts;
}
