/** `declarest openapi`: prints, writes or compares the document of an application. */
import { readFileSync, writeFileSync } from 'node:fs';
import { parseJson } from '../http/json-body.js';
import type { DocumentCommand, Outcome } from './arguments.js';
import { CommandError, reasonOf } from './command-error.js';
import { compileDocument } from './compile-application.js';
import { compareDocuments, type ApiDocument, type DocumentChange } from './document-changes.js';
import { loadModule } from './load-module.js';

export async function runDocument({ module, platform, out, check }: DocumentCommand): Promise<Outcome> {
  // Read before the application is created, which takes longer.
  const before = check === undefined ? undefined : readDocument(check);
  const document = await compileDocument(await loadModule(module), platform);
  if (before && check !== undefined)
    return checkDocument(check, compareDocuments(before, document as unknown as ApiDocument));
  const text = `${JSON.stringify(document, undefined, 2)}\n`;
  if (out === undefined) return { stdout: text, code: 0 };
  try {
    writeFileSync(out, text);
  } catch (cause) {
    throw new CommandError(`${JSON.stringify(out)} cannot be written: ${reasonOf(cause)}.`, { cause });
  }
  return { stdout: `Wrote ${Object.keys(document.paths).length} paths to ${out}.\n`, code: 0 };
}

function checkDocument(file: string, changes: readonly DocumentChange[]): Outcome {
  const breaking = changes.filter(({ breaks }) => breaks).length;
  const lines = changes.map(({ breaks, text }) => `${breaks ? 'Breaks clients' : 'Other change'}: ${text}\n`);
  const verdict =
    breaking > 0
      ? `${breaking} ${breaking === 1 ? 'change breaks' : 'changes break'} clients of ${file}. Accept with --out.`
      : changes.length > 0
        ? `No change breaks clients of ${file}. Record the changes with --out.`
        : `The document is the same as ${file}, as far as clients notice.`;
  return { stdout: `${lines.join('')}${verdict}\n`, code: breaking > 0 ? 1 : 0 };
}

function readDocument(file: string): ApiDocument {
  const name = JSON.stringify(file);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    const problem = isMissing ? 'does not exist; write it with --out' : `cannot be read: ${reasonOf(cause)}`;
    throw new CommandError(`The document ${name} ${problem}.`, { cause });
  }
  const document = parseJson(text) as Partial<ApiDocument> | null | undefined;
  if (typeof document?.openapi === 'string' && typeof document.paths === 'object') return document as ApiDocument;
  throw new CommandError(`${name} is no OpenAPI document in JSON. Give another file, or write it with --out.`);
}
