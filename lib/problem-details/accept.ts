/** Which media type a request prefers for a failure (RFC 9110 §12.5.1). */
import { headerValues, type HttpRequest } from '../http/http-request.js';

export const PROBLEM = 'application/problem+json';

interface MediaRange {
  readonly name: string;
  readonly quality: number;
}

/** The parts between separators. A separator in a quoted text is none. */
const ELEMENTS = /(?:[^,"]|"(?:[^"\\]|\\.)*"?)+/g;
const PARAMETERS = /(?:[^;"]|"(?:[^"\\]|\\.)*"?)+/g;
const QUALITY = /^\s*q\s*=\s*(.*?)\s*$/i;

/** Whether the client prefers problem details. Where it accepts both alike, it must name them. */
export function prefersProblem(request: HttpRequest): boolean {
  const ranges = rangesOf(headerValues(request, 'accept').join());
  const [problem, json] = [qualityOf(PROBLEM, ranges), qualityOf('application/json', ranges)];
  return problem > json || (problem > 0 && problem === json && ranges.some(({ name }) => name === PROBLEM));
}

function rangesOf(accept: string): MediaRange[] {
  return (accept.match(ELEMENTS) ?? []).map((element) => {
    const [name = '', ...parameters] = element.match(PARAMETERS) ?? [];
    const [quality = '1'] = parameters.flatMap((each) => QUALITY.exec(each)?.[1] ?? []);
    return {
      name: name.trim().toLowerCase(),
      quality: /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(quality) ? Number(quality) : 0,
    };
  });
}

/** The narrowest range that matches decides. */
function qualityOf(type: string, ranges: readonly MediaRange[]): number {
  for (const name of [type, 'application/*', '*/*']) {
    const matching = ranges.filter((each) => each.name === name);
    if (matching.length > 0) return Math.max(...matching.map(({ quality }) => quality));
  }
  return 0;
}
