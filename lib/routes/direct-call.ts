/** A handler of the package's own, called: its guards, its parameters, its answer, and its failure. */
import { after, isLater, type Answer } from '../http/at-once.js';
import type { FailureAnswer } from '../http/failure.js';
import type { Draft } from '../http/json-answer.js';
import type { HttpRequest } from '../http/request-facts.js';
import type { PlainHandler } from '../front/front.js';
import type { PlainRequest, PlainResponse } from '../front/plain-exchange.js';
import type { HandlerCall } from './declared-route.js';
import { isDirect, type DirectGuard } from './direct-guard.js';

export interface Callee {
  readonly guards: readonly DirectGuard[];
  readonly call: HandlerCall;
  /** The controller. */
  readonly instance: object;
}

type AnswerWith<Q, R> = (request: Q, response: R, draft: Draft, status: number) => unknown;

/** Waits for nothing that is there at once. */
export function compileCall<Q extends HttpRequest, R>(
  { guards, call, instance }: Callee,
  answerWith: AnswerWith<Q, R>,
): (request: Q, response: R) => Answer<unknown> {
  const { method, parameters, answer, status } = call;
  const enter = (request: Q, response: R, place: number): Answer<unknown> => {
    const guard = guards[place];
    if (!guard) {
      const values = parameters.map((read) => read(request, response));
      return after(answer(instance, values), (draft) => answerWith(request, response, draft, status));
    }
    return after(guard.refusal(request, response, method), (refused) =>
      refused ? answerWith(request, response, refused, refused.status) : enter(request, response, place + 1),
    );
  };
  return (request, response) => enter(request, response, 0);
}

/** @param answerTo what a failure is answered with */
export function plainHandler(callee: Callee, answerTo: (exception: unknown) => FailureAnswer): PlainHandler {
  const { guards } = callee;
  const enter = compileCall<PlainRequest, PlainResponse>(callee, (_request, response, draft, status) => {
    response.answer(status, draft.text() ?? JSON.stringify(draft.object()));
  });
  // No request ends the process: what throws here is a function that somebody has put in the place of node's.
  const fail = (exception: unknown, response: PlainResponse): void => {
    try {
      const { status, body, headers } = answerTo(exception);
      for (const [name, value] of Object.entries(headers)) response.header(name, value);
      response.answer(status, JSON.stringify(body));
    } catch {
      response.abandon();
    }
  };
  return {
    isOwn: () => guards.every(isDirect),
    shows: (...route) => guards.some((guard) => guard.shows(...route)),
    run: (request, response) => {
      try {
        const answered = enter(request, response);
        if (isLater(answered)) void answered.then(undefined, (exception) => fail(exception, response));
      } catch (exception) {
        fail(exception, response);
      }
    },
  };
}
