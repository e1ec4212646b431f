/** SQLite answers at once, other databases later: what waits for either costs promises only where there is a wait. */
export type Answer<T> = T | Promise<T>;

export const after = <T, R>(answer: Answer<T>, then: (value: T) => Answer<R>): Answer<R> =>
  answer instanceof Promise ? answer.then(then) : then(answer);

export function orElse<T>(ask: () => Answer<T>, failed: (error: unknown) => Answer<T>): Answer<T> {
  try {
    const answer = ask();
    return answer instanceof Promise ? answer.catch(failed) : answer;
  } catch (error) {
    return failed(error);
  }
}
