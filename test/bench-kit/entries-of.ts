import type { TestContext } from 'vitest';
import type { Entry } from '../../src/store/journal.ts';
import type { ForeignServer } from './foreign/server.ts';
import { builtProduct, type CopyOptions } from './product.ts';
import { type BenchOptions, openBench, type TestBench } from './test-bench.ts';

/** Gives the tests of a file benches with the same product. A bench closes when its test has finished. */
export function useBenches(
  options: CopyOptions = { cheapVault: true },
): (context: Pick<TestContext, 'onTestFinished'>, bench?: BenchOptions) => Promise<TestBench> {
  const product = builtProduct(options);
  return async (context, bench) => {
    const opened = await openBench(product, bench);
    context.onTestFinished(() => opened.close());
    return opened;
  };
}

/** The states that a run has been led to, in order. */
export function statesOf(entries: readonly Entry[]): string[] {
  return entries.filter(({ type }) => type === 'event').map(({ body }) => (body as { to: string }).to);
}

/** What a verb gave to the machine, the last time. */
export function outputOf(entries: readonly Entry[], activity: string): unknown {
  const bodies = entries
    .filter(({ type }) => type === 'event')
    .map(({ body }) => body as unknown as EventBody);
  return bodies.findLast(({ event }) => event.type === `xstate.done.actor.${activity}`)?.event.output;
}

interface EventBody {
  readonly event: { readonly type: string; readonly output?: unknown };
}

/** Types of the entries of the run, or of the ledger of the instance. */
export function typesOf(entries: readonly Entry[], where: 'run' | 'instance'): string[] {
  return entries.filter(({ stream }) => stream.startsWith(`${where}/`)).map(({ type }) => type);
}

/** How often the service was asked to change something. */
export function changes({ calls }: ForeignServer) {
  const count = (method: string) => calls.filter((call) => call.method === method).length;
  const did = (method: string) => calls.filter((call) => call.method === method && call.did).length;
  return { patches: count('PATCH'), posts: count('POST'), patchesDone: did('PATCH'), postsDone: did('POST') };
}
