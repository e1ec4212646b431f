/**
 * When one access is wider than another, read from the texts that the report and its snapshots hold: `public` is wider
 * than `any token`, that than every requirement, and `nobody` is the narrowest. Of two that ask for roles, the one that
 * asks for less is the wider: more roles in an "or", or fewer requirements in an "and".
 */

/** What a valid token is asked for: any of the roles, or a policy. */
type Clause = ReadonlySet<string>;

type ReadAccess = 'public' | 'nobody' | readonly Clause[];

/** Whether everybody whom `inner` lets in is let in by `outer` too, whatever roles there are. */
export function isWithin(inner: string, outer: string): boolean {
  if (inner === outer) return true;
  const [asked, given] = [readAccess(inner), readAccess(outer)];
  if (asked === 'nobody' || given === 'public') return true;
  if (asked === 'public' || given === 'nobody') return false;
  return given.every((clause) => asked.some((each) => [...each].every((name) => clause.has(name))));
}

/** As `describeAccess` writes it; a name in quotes may hold what would separate names otherwise. */
function readAccess(text: string): ReadAccess {
  if (text === 'public' || text === 'nobody') return text;
  if (text === 'any token') return [];
  const clauses = split(text, ', and ').map((clause) => new Set(split(clause, ' or ')));
  // The base role, which any token has, asks for nothing.
  return clauses.filter((clause) => !clause.has('USER'));
}

function split(text: string, separator: string): string[] {
  const parts = [''];
  for (const [piece] of text.matchAll(new RegExp(`"(?:[^"\\\\]|\\\\.)*"|${separator}|.`, 'gs')))
    if (piece === separator) parts.push('');
    else parts.push(`${parts.pop() ?? ''}${piece}`);
  return parts;
}
