/** Renders React into a document of happy-dom. Import what uses React after `startDom`: it looks for a window when loaded. */
import { Window } from 'happy-dom';
import type { ReactElement } from 'react';

/** Requests are those of Node: happy-dom would apply CORS. */
const GLOBALS = [
  'document',
  'navigator',
  'location',
  'history',
  'localStorage',
  'Node',
  'Element',
  'HTMLElement',
  'HTMLIFrameElement',
  'MutationObserver',
  'getComputedStyle',
  'requestAnimationFrame',
  'cancelAnimationFrame',
] as const;

export interface Page {
  /** The element that this selector finds. */
  find: (selector: string) => PageElement;
  text: () => string;
  click: (selector: string) => Promise<void>;
  /** Sets the value of an input as a user does. */
  type: (selector: string, value: string) => Promise<void>;
  /** Waits until this does not throw. */
  until: (check: () => void) => Promise<void>;
  close: () => Promise<void>;
}

interface PageElement {
  /** Of inputs. */
  readonly value?: string;
  readonly textContent: string | null;
  click: () => void;
  dispatchEvent: (event: unknown) => boolean;
}

export interface Dom {
  render: (element: ReactElement) => Promise<Page>;
  close: () => Promise<void>;
}

const PATIENCE_MS = 5_000;

export async function startDom(): Promise<Dom> {
  const window = new Window({ url: 'http://localhost/' });
  const before = new Map<string, PropertyDescriptor | undefined>();
  const define = (name: string, value: unknown): void => {
    before.set(name, Object.getOwnPropertyDescriptor(globalThis, name));
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  };
  define('window', window);
  define('IS_REACT_ACT_ENVIRONMENT', true);
  for (const name of GLOBALS) define(name, window[name]);

  const { act } = await import('react');
  const { createRoot } = await import('react-dom/client');

  const render = async (element: ReactElement): Promise<Page> => {
    const container = window.document.createElement('div');
    window.document.body.append(container);
    const root = createRoot(container as never);
    await act(async () => root.render(element));

    const find = (selector: string) => {
      const found = container.querySelector(selector);
      if (!found) throw new Error(`The page has no ${selector}: ${container.innerHTML}`);
      return found as unknown as PageElement;
    };
    return {
      find,
      text: () => container.textContent,
      click: (selector) => act(async () => find(selector).click()),
      type: (selector, value) =>
        act(async () => {
          const input = find(selector);
          // React overrides the setter of the element to recognise changes by code.
          Object.getOwnPropertyDescriptor(window.HTMLInputElement.prototype, 'value')?.set?.call(input, value);
          input.dispatchEvent(new window.Event('input', { bubbles: true }));
        }),
      until: async (check) => {
        const end = Date.now() + PATIENCE_MS;
        for (;;) {
          try {
            return check();
          } catch (error) {
            if (Date.now() > end) throw error;
          }
          await act(() => new Promise((resolve) => setTimeout(resolve, 5)));
        }
      },
      close: async () => {
        await act(async () => root.unmount());
        container.remove();
      },
    };
  };

  return {
    render,
    close: async () => {
      await window.happyDOM.close();
      for (const [name, descriptor] of before)
        if (descriptor) Object.defineProperty(globalThis, name, descriptor);
        else Reflect.deleteProperty(globalThis, name);
    },
  };
}
