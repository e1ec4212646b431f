/** The ETag of an answer on Express, as its setting says; that of the setting's default is made without a hash object. */
import { hash } from 'node:crypto';

export interface EtagSettings {
  readonly settings: Readonly<Record<string, unknown>>;
  set(name: string, value: unknown): unknown;
}
type EtagOf = (body: Buffer) => string | undefined;

interface CompiledEtag {
  (body: string, length: number): string | undefined;
  /** Whether the setting is its default, or gives none. */
  isKnown(): boolean;
}

/** @returns from a body and its length in bytes to its tag; to `undefined` where it gets none */
export function compileEtag(application: EtagSettings): CompiledEtag {
  const usual = usualEtag(application);
  const setting = (): EtagOf | undefined => application.settings['etag fn'] as EtagOf | undefined;
  const of = (body: string, length: number): string | undefined => {
    const etagOf = setting();
    return etagOf === usual && etagOf ? weakEtag(body, length) : etagOf?.(Buffer.from(body));
  };
  return Object.assign(of, { isKnown: () => setting() === usual || setting() === undefined });
}

/** The function that Express itself sets for `weak`; `undefined` where it gives other tags than are known here. */
function usualEtag({ set }: EtagSettings): EtagOf | undefined {
  const blank = { settings: {} as Record<string, unknown>, set };
  blank.set('etag', 'weak');
  const etagOf = blank.settings['etag fn'] as EtagOf | undefined;
  return etagOf?.(Buffer.from('é')) === weakEtag('é', 2) ? etagOf : undefined;
}

/** As the package etag, of which a hash object for each answer costs more than the hash. */
const weakEtag = (body: string, length: number): string =>
  `W/"${length.toString(16)}-${hash('sha1', body, 'base64').slice(0, 27)}"`;
