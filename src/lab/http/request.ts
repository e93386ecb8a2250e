import type { LabInstance } from '../instance.ts';
import type { LabState } from '../lab-state.ts';
import type { Outcome } from '../manager/task-queue.ts';
import type { LabContext } from './authorise.ts';
import type { Endpoint, Request } from './endpoint.ts';

/** What an endpoint is asked to do, out of a call on the wire. */
export function requestOf(
  context: LabContext,
  endpoint: Endpoint,
  state: LabState,
  call: { readonly instance: LabInstance; readonly body: unknown; readonly outcome: Outcome | undefined },
): Request {
  return {
    ...call,
    state,
    params: context.req.param() as Record<string, string>,
    query: context.req.query(),
    // Defined for what is sent along only (RFC 9110, 14.2).
    range: context.env.incoming.method === 'HEAD' ? undefined : context.req.header('range'),
    ifRange: context.req.header('if-range'),
    record: (detail) =>
      state.calls.push({
        at: state.clock.now().toISOString(),
        endpoint: `${endpoint.method} ${endpoint.path}`,
        instance: call.instance.name,
        detail,
      }),
  };
}
