/** SQLite answers at once, other databases later: what waits for either costs promises only where there is a wait. */
export type Answer<T> = T | Promise<T>;

/** Told by its `then`, as `await` does: an application may have put promises of its own in the place of the global ones. */
export const isLater = <T>(answer: Answer<T>): answer is Promise<T> =>
  typeof (answer as { readonly then?: unknown } | null | undefined)?.then === 'function';

export const after = <T, R>(answer: Answer<T>, then: (value: T) => Answer<R>): Answer<R> =>
  isLater(answer) ? answer.then(then) : then(answer);

export function orElse<T>(ask: () => Answer<T>, failed: (error: unknown) => Answer<T>): Answer<T> {
  try {
    const answer = ask();
    return isLater(answer) ? answer.then(undefined, failed) : answer;
  } catch (error) {
    return failed(error);
  }
}
