import { LifeboatError } from '../../base/errors.ts';
import { formatTime } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import { type LoadedConfig, tokenVariables } from '../../config/loaded.ts';
import type { LabAddress, LabFault } from '../../service/lab-client.ts';
import type { LabCallRow, LabChange, LabFacts } from '../../view/app/lab-facts.ts';

/** No screen has room for more rows of one kind. */
const MAX = 200;

/** How the lab of the config describes itself. Rejects as `labOf` and `askLab` do. */
export async function loadLab(config: LoadedConfig, signal: AbortSignal): Promise<LabFacts> {
  const lab = await labOf(config);
  const { askLab } = await import('../../service/lab-client.ts');
  const answers = await import('../../service/lab-client.ts');
  const [overview, calls, { playing, scenarios }, clock, settings] = await Promise.all([
    askLab(lab, { method: 'GET', path: '/lab' }, answers.LabOverview, signal),
    askLab(lab, { method: 'GET', path: '/lab/calls' }, answers.LabCalls, signal),
    askLab(lab, { method: 'GET', path: '/lab/scenario' }, answers.LabScenarios, signal),
    askLab(lab, { method: 'GET', path: '/lab/clock' }, answers.LabClock, signal),
    askLab(lab, { method: 'GET', path: '/lab/settings' }, answers.LabSettings, signal),
  ]);
  const { engine, revision, faults, instances } = overview;
  const about = [engine, revision === undefined ? undefined : `revision ${revision}`];
  return {
    place: new URL(lab.url).host,
    about: show(about.filter((part) => part !== undefined).join(', '), 100),
    playing: playing === undefined ? undefined : show(playing, 80),
    scenarios: scenarios
      .slice(0, MAX)
      .map(({ name, summary }) => ({ name: show(name, 80), summary: show(summary) })),
    faults: faults.slice(0, MAX).map(faultWords),
    instances: instances
      .slice(0, MAX)
      .map(({ name, state, backups }) => ({ name: show(name, 80), state: show(state, 40), backups })),
    clock: {
      now: show(clock.now, 40),
      rate: clock.rate,
      skewSeconds: clock.skewMs / 1000,
      aheadSeconds: clock.aheadMs / 1000,
    },
    routerSeconds: settings.routerMs / 1000,
    updateBlocking: settings.updateBlocking,
    calls: calls
      .slice(-MAX)
      .toReversed()
      .map(
        ({ at, instance, endpoint, detail = {} }): LabCallRow => ({
          at: show(at, 40),
          instance: show(instance, 80),
          endpoint: show(endpoint, 80),
          detail: fieldWords(detail),
        }),
      ),
    callCount: calls.length,
  };
}

/** The lab that the config names. Rejects with `lab.none` if it names none. */
export async function labOf(config: LoadedConfig): Promise<LabAddress> {
  const { lab } = config;
  if (lab === undefined) {
    throw new LifeboatError('lab.none', 'the config names no lab', {
      hints: ['`lifeboat lab --out lifeboat.yaml` begins one and writes a config that names it'],
    });
  }
  const { tokenReader } = await import('../../service/token-source.ts');
  const hideEnv = tokenVariables(config);
  return { url: lab.url, token: tokenReader(lab.token, { keychain: async () => undefined, hideEnv }) };
}

/** `POST /backups of orders: drop, once (when after)`: ends with the part that a narrow screen may cut. */
function faultWords({ method, path, instance, after, times, probability, effect }: LabFault): string {
  const { kind, ...how } = effect;
  const where = [method, path].filter((part) => part !== undefined).join(' ') || 'any call';
  const words = fieldWords(how);
  const parts = [
    times === 'always' ? 'always' : times === 1 ? 'once' : times && `${times} times`,
    after ? `after ${after} more calls` : undefined,
    probability === undefined || probability >= 1
      ? undefined
      : `hits ${Math.round(probability * 100)} % of them`,
  ].filter(Boolean);
  return show(
    `${where}${instance === undefined ? '' : ` of ${instance}`}: ${[String(kind), ...parts].join(', ')}${words === '' ? '' : ` (${words})`}`,
    200,
  );
}

function fieldWords(fields: Readonly<Record<string, unknown>>): string {
  const words = Object.entries(fields)
    .slice(0, 20)
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return show(words.join(', '), 200);
}

/** Describes the resulting state; reaches only instances of a lab. Rejects as `labOf` and `askLab` do. */
export async function changeLab(config: LoadedConfig, change: LabChange): Promise<string> {
  const lab = await labOf(config);
  const { askLab } = await import('../../service/lab-client.ts');
  const answers = await import('../../service/lab-client.ts');
  switch (change.do) {
    case 'play': {
      const call = { method: 'POST', path: '/lab/scenario', body: { name: change.scenario } } as const;
      const { playing } = await askLab(lab, call, answers.LabScenarios);
      return `scenario ${show(playing ?? 'none', 80)} has begun; the faults of the one before have ended`;
    }
    case 'stop-faults': {
      await askLab(lab, { method: 'DELETE', path: '/lab/faults' }, answers.LabFaults);
      return 'all faults have ended; later steps of a scenario still follow';
    }
    case 'lose':
    case 'bring-back': {
      const path = `/lab/instances/${encodeURIComponent(change.instance)}/disaster`;
      const call = { method: 'POST', path, body: { lost: change.do === 'lose' } } as const;
      const { name, state } = await askLab(lab, call, answers.LabDisaster);
      return `${show(name, 80)} is ${STATES[state] ?? show(state, 40)}`;
    }
    case 'delete': {
      const path = `/lab/instances/${encodeURIComponent(change.instance)}`;
      const { name } = await askLab(lab, { method: 'DELETE', path }, answers.LabDeleted);
      return `${show(name, 80)} is deleted for good; its backups stay`;
    }
    case 'advance': {
      const call = { method: 'POST', path: '/lab/clock', body: { advance: change.by } } as const;
      const { now } = await askLab(lab, call, answers.LabClock);
      return `the clock of the lab shows ${show(formatTime(now), 40)} UTC now`;
    }
    case 'expire-tokens': {
      await askLab(lab, { method: 'POST', path: '/lab/tokens', body: { expire: true } }, answers.LabTokens);
      return 'the tokens from before are refused now; the token file holds a new one';
    }
  }
}

/** Describes each state, keyed by the lab's own word for it. */
const STATES: Readonly<Record<string, string>> = {
  lost: 'lost: a router answers 502 in its place',
  running: 'running, with everything that was committed',
  deleted: 'deleted: it can neither be lost nor come back',
};
