/** Makes the request of a tool call. */
import type { Input, Tool } from './tools.js';

export interface ToolRequest {
  readonly method: string;
  /** With the query string. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Arguments that have no place in the request. The application checks all others. */
export class InvalidArguments extends Error {}

/** @throws InvalidArguments */
export function requestOf(tool: Tool, sent: Readonly<Record<string, unknown>>): ToolRequest {
  const given = Object.entries(sent).filter(([, value]) => value !== undefined);
  const unknown = given.filter(([name]) => !tool.inputs.has(name)).map(([name]) => name);
  if (unknown.length > 0) throw new InvalidArguments(`Unknown arguments: ${unknown.join(', ')}`);
  for (const [name, { isRequired }] of tool.inputs)
    if (isRequired && sent[name] === undefined) throw new InvalidArguments(`${name} is required`);
  const path = new Map<string, string>();
  const query: string[] = [];
  const headers: Record<string, string> = {};
  let body: string | undefined;
  for (const [argument, value] of given) {
    const { in: place, name } = tool.inputs.get(argument) as Input;
    if (place === 'body') body = jsonOf(argument, value);
    else if (place === 'path') path.set(name, segmentOf(argument, value));
    else if (place === 'header') headers[name.toLowerCase()] = headerOf(argument, value);
    else
      query.push(...textsOf(argument, value).map((text) => `${encodeURIComponent(name)}=${encoded(argument, text)}`));
  }
  const filled = tool.path.replaceAll(/\{([^{}]+)\}/g, (_, name: string) => path.get(name) ?? '');
  return {
    method: tool.method,
    path: query.length === 0 ? filled : `${filled}?${query.join('&')}`,
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body }),
  };
}

function jsonOf(argument: string, value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    throw new InvalidArguments(`${argument} is nested too deeply`);
  }
}

/** Lists are sent repeated. */
const textsOf = (argument: string, value: unknown): string[] =>
  Array.isArray(value) ? value.map((each) => textOf(argument, each)) : [textOf(argument, value)];

function textOf(argument: string, value: unknown): string {
  // The record of another number than the one that was sent would be found.
  if (Number.isInteger(value) && !Number.isSafeInteger(value))
    throw new InvalidArguments(`${argument} must be a text, because JSON numbers are exact up to 2^53`);
  if (['string', 'number', 'boolean'].includes(typeof value)) return String(value);
  throw new InvalidArguments(`${argument} must be a text, a number or a boolean`);
}

/** An empty segment or a dot segment would name another route. */
function segmentOf(argument: string, value: unknown): string {
  const text = textOf(argument, value);
  if (/^\.{0,2}$/.test(text)) throw new InvalidArguments(`${argument} must not be empty, "." or ".."`);
  return encoded(argument, text);
}

function encoded(argument: string, text: string): string {
  if (!text.isWellFormed()) throw new InvalidArguments(`${argument} must be well-formed Unicode`);
  return encodeURIComponent(text);
}

/** Visible ASCII and spaces (RFC 9110 §5.5). */
function headerOf(argument: string, value: unknown): string {
  const text = textOf(argument, value);
  if (!/^[\x20-\x7E]*$/.test(text)) throw new InvalidArguments(`${argument} must be printable ASCII`);
  return text;
}
