/** SQLite answers at once, other databases later: what waits for either costs promises only where there is a wait. */
export type Answer<T> = T | Promise<T>;

export const after = <T, R>(answer: Answer<T>, then: (value: T) => Answer<R>): Answer<R> =>
  answer instanceof Promise ? answer.then(then) : then(answer);
