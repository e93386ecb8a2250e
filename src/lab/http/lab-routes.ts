import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { LifeboatError } from '../../errors.ts';
import type { LabState } from '../lab-state.ts';
import { authorise, type LabContext } from './authorise.ts';
import { Refusal, refusalBody } from './endpoint.ts';
import { readJson } from './read-json.ts';

/** The lab's own face, for another process: what it is, what the service did, what is to go wrong. */
export function labRoutes(state: LabState): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  const withRight =
    (right: 'read' | 'write', work: (context: LabContext) => unknown) => async (context: LabContext) => {
      try {
        authorise(context, state, right);
        return context.json(await work(context));
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        return context.json(refusalBody(error, 'v1'), error.status as 401);
      }
    };
  app.get(
    '/',
    withRight('read', () => describe(state)),
  );
  app.get(
    '/calls',
    withRight('read', () => state.calls),
  );
  app.post(
    '/faults',
    withRight('write', async (context) => {
      try {
        state.fault(await readJson(context.env.incoming));
      } catch (error) {
        if (!(error instanceof LifeboatError)) throw error;
        throw new Refusal(422, 'invalidFault', error.shortMessage);
      }
      return { faults: state.faults.open };
    }),
  );
  app.delete(
    '/faults',
    withRight('write', () => {
      state.clearFaults();
      return { faults: [] };
    }),
  );
  return app;
}

function describe(state: LabState) {
  return {
    status: 'ready',
    engine: state.engine,
    revision: state.revision,
    faults: state.faults.open,
    instances: state.instances.map(({ name, guid, database, backups }) => ({
      name,
      guid,
      state: database.running ? 'running' : 'stopped',
      pid: database.pid,
      backups: backups.length,
    })),
  };
}
