/** Compares the code and the options that decide on access. */
import type { AccessRow } from '../access/access-rows.js';
import type { Change } from './reach-changes.js';
import type { Reach } from './reach.js';

/** `look`: nobody can tell whether access became wider. The place is `policy isOwner`, or `GET /api/reports`. */
export type CodeChange = Change<'look' | 'narrower'>;

export type CodeTable = Pick<Reach, 'code' | 'resources'> & { readonly routes: readonly AccessRow[] };

const isRoute = (name: string): boolean => /^[A-Z]+ \//.test(name);
/** Rules and routes name what they use. */
const isUsed = (name: string): boolean => /^(policy|guard|interceptor|pipe) /.test(name);
const isHash = (text: string): boolean => text.startsWith('#');
const refuses = (text: string): boolean => /^(guard|requires) /.test(text);

export function compareCode(before: CodeTable, after: CodeTable): CodeChange[] {
  const names = new Set([...Object.keys(after.code), ...Object.keys(before.code)]);
  return [...names].flatMap((place) => {
    const [was, is] = [before.code[place], after.code[place]];
    if (was === is || (isUsed(place) && (was === undefined || is === undefined))) return [];
    const isHarmless = is === undefined ? !isLeft(after, before, place) : isRoute(place) && isClosed(after, place);
    const { kind, text } = changeOf(was, is);
    // What guards a new route is part of its access.
    const isOfNew = isRoute(place) && rowsOf(before, place).length === 0 && kind === 'narrower';
    const cause = isRoute(place) ? `${text} ${was} ${is}` : place;
    return isHarmless || isOfNew ? [] : [{ kind, place, cause, sentence: `${place}${text}` }];
  });
}

/** A route for all methods has rows for some of them. */
const rowsOf = ({ routes }: CodeTable, name: string): AccessRow[] =>
  routes.filter(({ method, template }) => [`${method} ${template}`, `ALL ${template}`].includes(name));

const isClosed = (table: CodeTable, name: string): boolean =>
  rowsOf(table, name).every(({ access }) => access === 'nobody');

/** Whether what has lost its code is still there: the route, the resource of a hook, or the entity of a column. */
function isLeft(after: CodeTable, before: CodeTable, name: string): boolean {
  const { resources } = after;
  if (isRoute(name)) return rowsOf(after, name).length > 0;
  const endpoint = /^hook \w+ of (.+)$/.exec(name)?.[1];
  if (endpoint !== undefined) return resources.some((each) => each.endpoint === endpoint);
  const [kind = '', entity] = /^(view|transformer|column|plugin) (\w+)/.exec(name)?.slice(1) ?? [];
  const has = (all: CodeTable['resources']): boolean => all.some((each) => each.entity === entity);
  if (kind !== '') return !has(before.resources) || has(resources);
  // A plugin that is gone opens nothing, unless it restricts.
  const [owner] = name.split(' ');
  const isOwned = Object.keys(after.code).some((each) => each.startsWith(`${owner} `));
  return isOwned || (before.code[name] ?? '').split(', ').some(refuses);
}

function changeOf(
  was: string | undefined,
  is: string | undefined,
): Pick<CodeChange, 'kind'> & { readonly text: string } {
  const [old, present] = [was, is].map((text) => text?.split(', ') ?? []) as [string[], string[]];
  const removed = old.filter((each) => !present.includes(each));
  const added = present.filter((each) => !old.includes(each));
  const isNarrower = was !== undefined && is !== undefined && isLess(was, is);
  const kind = isNarrower || (removed.length === 0 && added.length > 0 && added.every(refuses)) ? 'narrower' : 'look';
  const parts = [
    ...added.map((each) =>
      isHash(each) ? (removed.some(isHash) ? '' : 'code of the application is new') : `now ${each}`,
    ),
    ...removed.map((each) =>
      isHash(each) ? (added.some(isHash) ? '' : 'code of the application is removed') : `no longer ${each}`,
    ),
  ].filter((each) => each !== '');
  return { kind, text: parts.length > 0 ? `: ${parts.join(', ')}` : '' };
}

/** Whether a number or a switch became narrower: more is wider. */
const isLess = (was: string, is: string): boolean =>
  (was === 'true' && is === 'false') || (was.trim() !== '' && is.trim() !== '' && Number(is) < Number(was));
