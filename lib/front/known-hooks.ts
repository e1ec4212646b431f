/**
 * Whether a function that Nest's adapter puts before every handler would let a request pass. They have no names: they are
 * known by their text, which stands in the adapter's class, and by what of the adapter they look at.
 */
import { nestsPrototype } from '../routes/nests-adapter.js';

/** Members that such functions look at and that, where they are not set, let everything pass. */
const LETS_PASS_UNLESS_SET = ['onRequestHook', 'onResponseHook', 'isShuttingDown', 'corsHook', 'securityHook'] as const;
/** Those that change nothing for a target of words, or are only asked where one of the above is set. */
const OTHERS = [
  'return503OnClosing',
  'runRequestHook',
  'runLifecycleHook',
  'copyCorsHeadersToRaw',
  'isRoutableRequestTarget',
  'versionExtractorErrors',
  'logger',
];

type Adapter = Readonly<Partial<Record<(typeof LETS_PASS_UNLESS_SET)[number], unknown>>>;

export class KnownHooks {
  private text: string | undefined;

  constructor(private readonly adapter: object) {}

  /** Whether it is one of Nest's that only looks at what is known here. */
  has(hook: object): boolean {
    const text = String(hook);
    const members = [...text.matchAll(/\bthis\.(\w+)/g)].map(([, name = '']) => name);
    this.text ??= String(nestsPrototype(this.adapter)?.constructor);
    return (
      members.length > 0 &&
      members.every((name) => [...LETS_PASS_UNLESS_SET, ...OTHERS].includes(name)) &&
      this.text.includes(text)
    );
  }

  /** Whether a method of the adapter is the one of Nest's class, and not a subclass's. */
  isNests(method: string): boolean {
    const nests = nestsPrototype(this.adapter) as Record<string, unknown> | undefined;
    return nests !== undefined && (this.adapter as Record<string, unknown>)[method] === nests[method];
  }

  /** Whether they would let every request pass just now. */
  get isOpen(): boolean {
    const adapter = this.adapter as Adapter;
    return LETS_PASS_UNLESS_SET.every((name) => !adapter[name]);
  }
}
