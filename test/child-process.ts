import { spawn } from 'node:child_process';
import { once } from 'node:events';

export interface ChildOptions {
  readonly cwd: string;
  /** The whole environment, except `PATH`. */
  readonly env?: Readonly<Record<string, string>>;
  /** What the process reads from its standard input; none by default. */
  readonly input?: string;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Child {
  /** Waits until stdout matches. Rejects when the process ends before. */
  says(what: RegExp): Promise<RegExpExecArray>;
  signal(signal: NodeJS.Signals): void;
  readonly ended: Promise<Ended>;
}

/** Starts a process, which is killed at the end of the test file. */
export function startChild(command: string, args: readonly string[], { cwd, env, input }: ChildOptions): Child {
  const child = spawn(command, args, {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.end(input);
  const output = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      output[stream] += text;
    });
  }
  const ended = once(child, 'close').then(([code, signal]): Ended => {
    running.delete(kill);
    return { code, signal, ...output };
  });
  const kill = (): Promise<Ended> => {
    child.kill('SIGKILL');
    return ended;
  };
  running.add(kill);
  return {
    ended,
    signal: (signal) => void child.kill(signal),
    says: (what) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = what.exec(output.stdout);
          if (found) resolve(found);
        };
        child.stdout.on('data', look);
        void ended.then((end) =>
          reject(new Error(`The process ended before stdout matched ${String(what)}: ${JSON.stringify(end)}`)),
        );
        look();
      }),
  };
}

/** Runs a line in a shell and waits for its end. */
export function shell(line: string, options: ChildOptions): Promise<Ended> {
  return startChild('sh', ['-c', line], options).ended;
}

const running = new Set<() => Promise<Ended>>();
afterAll(async () => {
  await Promise.all([...running].map((kill) => kill()));
});
