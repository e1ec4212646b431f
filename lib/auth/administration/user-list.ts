/** The query string of the list of users: the grammar of generated lists, as far as users need it. */
import { SeveralMessages } from '../../http/failure.js';
import { queryOf, type HttpRequest } from '../../http/http-request.js';
import type { UserQuery } from '../users/user.repository.js';

const MAX_SIZE = 100;
const MAX_PAGE = 1_000_000;
const MAX_TEXT = 100;
/** No query that is valid has so many parameters. */
const MAX_PARAMETERS = 20;

const PARAMETERS: Readonly<Record<string, (text: string) => UserQuery | undefined>> = {
  page: (text) => onlyInteger(text, MAX_PAGE, (page) => ({ page })),
  size: (text) => onlyInteger(text, Number.MAX_SAFE_INTEGER, (size) => ({ size: Math.min(size, MAX_SIZE) })),
  q: (text) => (text.length > 0 && text.length <= MAX_TEXT && !/\p{Cc}/u.test(text) ? { text } : undefined),
  'filter[role]': (role) =>
    role.length > 0 && role.length <= MAX_TEXT && !/\p{Cc}/u.test(role) ? { role } : undefined,
  'filter[active]': (text) => (/^(true|false)$/.test(text) ? { active: text === 'true' } : undefined),
};
const NAMES = Object.keys(PARAMETERS);

/** @throws 400 naming every wrong parameter */
export function readUserQuery(request: HttpRequest): Required<Pick<UserQuery, 'page' | 'size'>> & UserQuery {
  const problems: string[] = [];
  let query: UserQuery = {};
  let hint = `, expected only ${NAMES.join(', ')}`;
  const sent = new URLSearchParams(queryOf(request));
  // Looking for the values of a name takes time for each parameter that was sent.
  for (const name of [...new Set(sent.keys())].slice(0, MAX_PARAMETERS)) {
    const values = sent.getAll(name);
    const read = Object.hasOwn(PARAMETERS, name) ? PARAMETERS[name] : undefined;
    const part = values.length === 1 ? read?.(values[0] ?? '') : undefined;
    if (!read) {
      problems.push(`${name}: unknown parameter${hint}`);
      hint = '';
    } else if (!part) problems.push(`${name}: not valid`);
    else query = { ...query, ...part };
  }
  if (problems.length > 0) throw new SeveralMessages(problems);
  return { page: 1, size: 20, ...query };
}

function onlyInteger(text: string, most: number, use: (value: number) => UserQuery): UserQuery | undefined {
  const value = Number(text);
  return /^\d{1,16}$/.test(text) && value >= 1 && value <= most ? use(value) : undefined;
}
