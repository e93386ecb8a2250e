import { describe, expect, test } from 'vitest';
import { NEW_GROUP } from '../../machines/parts/plan-events.ts';
import type { PlanContext } from '../../machines/plan.ts';
import { checklistOf } from '../../src/commands/plans/checklist.ts';
import { type RestChild, restOfPlan } from '../../src/plans/rest.ts';
import { markdownDocument } from '../../src/report/render/markdown-document.ts';
import { inputOf } from '../report/plan/plan-run.ts';

const PLAN = `plan: west
contacts: [{ name: Ada, reach: "+49 1" }]
groups:
  - id: data
    for: { instances: [db-1, db-4], target: "{name}-dr" }
    waves: [1]
    settle: 10m
    promote: approve
    stopWhen: { failed: 1 }
    steps:
      - { id: recover, runbook: disaster-recovery, undo: none; the source stays }
      - { id: probe, check: { http: "https://x/ready", expect: { status: 204 } }, onFailure: continue, because: reports wait }
      - id: switch
        command: { argv: [./switch, "it's <a> | \`b\`"], kind: once, landed: [./switched] }
        undo: { manual: { do: switch back } }
      - { id: ask, manual: { do: ask the source }, when: source-down, undo: none; asked }
  - id: people
    after: [data]
    steps:
      - { id: rest, wait: 5m }
      - { id: tell, notify: { text: it is over }, undo: none; told }
finally: { steps: [{ id: tidy, command: { argv: [./tidy], kind: repeatable }, undo: none; tidy }] }
`;

const input = inputOf(PLAN);
const context = (groups: PlanContext['groups'] = {}): PlanContext => ({
  ...{ input, source: 'up', lanes: [], approved: 0, confirmed: [], results: [] },
  groups,
});
const child = (lane: string, step: string, result?: RestChild['result']): RestChild => ({
  ...{ runId: `01${lane}${step}`, group: 'data', lane, step, attempt: 1 },
  result,
});

/** The steps that are left, each as `GROUP/LANE/STEP`. */
function left(...args: Parameters<typeof restOfPlan>): readonly string[] {
  return restOfPlan(...args).flatMap(({ group, lanes }) =>
    lanes.flatMap(({ lane, steps }) => steps.map(({ step }) => `${group.id}/${lane.name}/${step.id}`)),
  );
}

describe('the rest of a plan', () => {
  test('is all of it before anything has begun, without steps that do not belong to the run', () => {
    expect(left(context(), [])).toEqual([
      ...['recover', 'probe', 'switch'].map((step) => `data/db-1/${step}`),
      ...['recover', 'probe', 'switch'].map((step) => `data/db-4/${step}`),
      'people/-/rest',
      'people/-/tell',
      'finally/-/tidy',
    ]);
  });

  test('excludes what is done or what a person passed', () => {
    const passed = { 'db-1/probe': { how: 'skipped', text: 'no probe' } } as const;
    const groups = { data: { ...NEW_GROUP, passed } };
    expect(left(context(groups), [child('db-1', 'recover', 'done')])).not.toEqual(
      expect.arrayContaining(['data/db-1/recover']),
    );
    expect(left(context(groups), [])).not.toContain('data/db-1/probe');
  });

  test('contains an open step with its run, and a failed step as a new attempt', () => {
    const children = [child('db-1', 'recover'), child('db-4', 'recover', 'failed')];
    const [data] = restOfPlan(context(), children);
    expect(data?.lanes.map(({ steps: [first] }) => first)).toEqual([
      expect.objectContaining({ openRun: '01db-1recover', attempt: 1, hasFailed: false }),
      expect.objectContaining({ openRun: undefined, attempt: 2, hasFailed: true }),
    ]);
  });

  test('contains a failed step that the plan went on without', () => {
    const children = [child('db-1', 'recover', 'done'), child('db-1', 'probe', 'failed')];
    expect(left(context(), children)).toEqual(expect.arrayContaining(['data/db-1/probe']));
  });
});

describe('the checklist for people', () => {
  const text = (groups: PlanContext['groups'] = {}, children: readonly RestChild[] = []) =>
    markdownDocument(
      checklistOf(restOfPlan(context(groups), children), {
        ...{ runId: '01P', input, writtenAt: new Date(0) },
        scriptOf: (group, lane, step) => (step === 'recover' ? `${group}.${lane}.sh` : undefined),
        cardOf: (instance) =>
          instance === 'db-1'
            ? { backupGuid: 'guid-of-db-1', preparedAt: '2026-03-01T00:00:00Z', crossCheck: 'agrees' }
            : undefined,
      }),
    );

  test('has groups in order, with their conditions, waves, and what happens between the waves', () => {
    const all = text();
    expect(all.match(/^## .*$/gmu)).toEqual(['## Group data', '## Group people', '## At the end']);
    expect(all).toContain('When 1 instance failed, begin nothing new, and decide.');
    expect(all).toMatch(
      /Wave 1 of 2[\s\S]*Wait 10 min\.[\s\S]*A second person lets the next wave begin[\s\S]*Wave 2 of 2/u,
    );
    expect(all).toContain('- Begin when these groups are done: data.');
  });

  test('explains for each step how it is done by hand, and how it is undone', () => {
    const all = text();
    expect(all).toContain(
      '**db-1 -&gt; db-1-dr: recover**: `bash data.db-1.sh` (disaster-recovery perform).',
    );
    expect(all).toContain('expected: status 204');
    expect(all).toContain(
      "`` ./switch 'it'\\''s <a> | `b`' ``, once only. Ask first whether it has happened: `./switched`",
    );
    expect(all).toContain('Taken back by: hand: switch back.');
    expect(all).toContain('- [ ] **rest**: wait 5 min.');
    expect(all).toContain('tell everybody whom lifeboat.yaml notifies: it is over');
  });

  test('has the recovery card of each instance to recover, and says where there is none', () => {
    const all = text();
    expect(all).toContain('| db-1 | `guid-of-db-1` |');
    expect(all).toContain('| db-4 | **no card on record** |');
  });

  test('calls no instance done whose failure the plan passed, and says why it went on', () => {
    const steps = ['recover', 'switch'].map((step) => child('db-1', step, 'done'));
    const all = text({}, [...steps, child('db-1', 'probe', 'failed')]);
    expect(all).not.toContain('Done: db-1');
    expect(all).toContain('It has failed, and the plan went on without it (reports wait): find out why.');
  });

  test('warns about what was begun, and leaves out instances that a person took out', () => {
    const groups = { data: { ...NEW_GROUP, out: { 'db-4': 'it is retired' } } };
    const all = text(groups, [child('db-1', 'recover')]);
    expect(all).toContain('It was begun, as run `01db-1recover`: look first what it has done.');
    expect(all).toContain('Taken out: db-4 -&gt; db-4-dr (it is retired).');
    expect(all).not.toContain('data.db-4.sh');
  });
});
