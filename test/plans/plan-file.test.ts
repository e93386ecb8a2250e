import { describe, expect, test } from 'vitest';
import type { LifeboatError } from '../../src/base/errors.ts';
import { forecastOf } from '../../src/plans/forecast.ts';
import { assertFits, planJsonSchema, readPlan } from '../../src/plans/plan-file.ts';
import { resolvePlan } from '../../src/plans/resolve.ts';
import { starterPlan } from '../../src/plans/starter-plan.ts';
import { weaknessesIn } from '../../src/plans/weaknesses.ts';
import { surroundingsWith } from './surroundings.ts';

const GOOD = `plan: west
groups:
  - id: data
    for: { tag: tier-1, target: "{name}-dr" }
    steps:
      - { id: recover, runbook: disaster-recovery, undo: none; the source stays }
healthy: [{ tcp: "127.0.0.1:5432" }]
`;

/** The problems of a text, each as \`LINE:COLUMN KEY: MESSAGE\`. */
function problemsOf(text: string): readonly string[] {
  try {
    const read = readPlan(text, 'plans/west.yaml');
    assertFits(read, resolvePlan(read.plan, surroundingsWith(6)).misfits);
    return [];
  } catch (thrown) {
    return (thrown as LifeboatError).problems.map(
      ({ line, column, key, message }) => `${line}:${column} ${key}: ${message}`,
    );
  }
}

const changed = (from: string, to: string) => GOOD.replace(from, to);

describe('a plan file', () => {
  test('without a mistake has no problem', () => {
    expect(problemsOf(GOOD)).toEqual([]);
  });

  // The mark stands where the problem is told.
  test.each([
    [
      'a misspelled key, with the right one',
      changed('groups:', '§gruops:'),
      'gruops: there is no such key; the most similar: groups',
    ],
    [
      'a misspelled key of a step',
      changed('runbook:', '§runbok:'),
      'groups.0.steps.0.runbok: there is no such key; the most similar: runbook',
    ],
    [
      'a step with two kinds',
      changed('{ id: recover,', '§{ id: recover, wait: 1m,'),
      'groups.0.steps.0: a step has one kind: runbook, check, manual, approve, command, notify, wait',
    ],
    [
      'a time limit where the kind has its own',
      changed(
        '{ id: recover, runbook: disaster-recovery,',
        '{ id: tell, manual: { do: look }, timeout: §1m,',
      ),
      'groups.0.steps.0.timeout: runbooks and checks take a timeout; a command has its own, a manual step `due`, an approval `within`',
    ],
    [
      'a step without a kind',
      changed('{ id: recover, runbook: disaster-recovery,', '§{ id: recover,'),
      'groups.0.steps.0: a step has one kind: runbook, check, manual, approve, command, notify, wait',
    ],
    [
      'retries on what is sent once',
      changed('undo:', 'retries: §2, undo:'),
      'groups.0.steps.0.retries: what is sent once is never repeated blindly: after a lost answer, the service is asked',
    ],
    [
      'a command that is sent once and cannot be asked about',
      changed('runbook: disaster-recovery', '§command: { argv: [./switch], kind: once }'),
      'groups.0.steps.0.command.landed: name the command that says whether a lost one has happened',
    ],
    [
      'continuing without saying why',
      changed('undo:', 'onFailure: §continue, undo:'),
      'groups.0.steps.0.onFailure: say with `because` why the plan may continue without this step',
    ],
    [
      'a group after one that does not exist',
      changed('    for:', '    after: [§dta]\n    for:'),
      'groups.0.after.0: there is no group dta',
    ],
    [
      'a tag that no instance has, with the right one',
      changed('tier-1', '§teir-1'),
      'groups.0.for.tag: no instance has the tag teir-1; the most similar: tier-1',
    ],
    [
      'targets that are not there, in one line',
      changed('"{name}-dr"', '§"{name}-x"'),
      'groups.0.for.target: 2 targets are not in lifeboat.yaml: db-1-x, db-4-x',
    ],
    [
      'one target for two instances',
      changed('"{name}-dr"', '§db-1-dr'),
      'groups.0.for.target: db-1 and db-4 have one target: db-1-dr',
    ],
    [
      'a recovery without a target',
      changed(', target: "{name}-dr"', '').replace('runbook: ', 'runbook: §'),
      'groups.0.steps.0.runbook: a recovery needs a target: add one to `for`, such as target: "{name}-dr"',
    ],
    [
      'a runbook in a group without instances',
      changed('    for: { tag: tier-1, target: "{name}-dr" }\n', '').replace('runbook: ', 'runbook: §'),
      'groups.0.steps.0.runbook: a runbook needs an instance: this group has no `for`',
    ],
    [
      'something that the runbook does not take',
      changed('undo:', 'with: { action: §restart }, undo:'),
      'groups.0.steps.0.with.action: disaster-recovery takes no action',
    ],
    [
      'an approval that nobody can give',
      changed('groups:', 'approve: §{ quorum: 2 }\ngroups:'),
      'approve: nobody can approve: lifeboat.yaml names no allowed signers (`approvals`)',
    ],
    [
      'a notification for an unknown target',
      changed('runbook: disaster-recovery', 'notify: { to: §opps, text: hello }'),
      'groups.0.steps.0.notify.to: lifeboat.yaml notifies no opps; the most similar: ops',
    ],
    [
      'a stop rule with an unknown count',
      changed('    steps:', '    stopWhen: { §maxErrors: 2 }\n    steps:'),
      'groups.0.stopWhen.maxErrors: there is no such key',
    ],
    [
      'an address with a password, which is not repeated,',
      changed('tcp: "127.0.0.1:5432"', 'http: §"https://me:secret@example.com/"'),
      'healthy.0.http: an address has no user or password: both would be on record',
    ],
    [
      'an invalid address',
      changed('tcp: "127.0.0.1:5432"', 'http: §ftp.example.com'),
      'healthy.0.http: this is no address of the form https://HOST/PATH',
    ],
    [
      'two groups with one id',
      changed('healthy', '  - { id: §data, steps: [{ id: x, wait: 1s }] }\nhealthy'),
      'groups.1.id: there are two with the id data',
    ],
    [
      'two steps with one id',
      changed('healthy', '      - { id: §recover, wait: 1s }\nhealthy'),
      'groups.0.steps.1.id: there are two with the id recover',
    ],
    [
      'a reason for continuing that a run would refuse',
      changed('undo:', 'onFailure: continue, because: §xx, undo:'),
      'groups.0.steps.0.because: "xx" is no reason: write why, in a few words',
    ],
    [
      'a group after itself',
      changed('    for:', '    after: [§data]\n    for:'),
      'groups.0.after.0: a group cannot wait for itself',
    ],
    [
      'more at once than is possible',
      changed('    steps:', '    maxConcurrency: §1e9\n    steps:'),
      'groups.0.maxConcurrency: this is too large: at most 1000 is possible',
    ],
    [
      'more retries than are possible',
      changed('runbook: disaster-recovery,', 'wait: 1s, retries: §21,'),
      'groups.0.steps.0.retries: this is too large: at most 20 is possible',
    ],
    [
      'a misspelled kind of step with swapped letters',
      changed('runbook: disaster-recovery', '§wiat: 1s'),
      'groups.0.steps.0.wiat: there is no such key; the most similar: wait',
    ],
    [
      'a number of rows that is none',
      changed('tcp: "127.0.0.1:5432"', 'sql: select 1, expect: { rows: §">= banana" }'),
      'healthy.0.expect.rows: a sign and a number belong here: ">= 1000"',
    ],
    [
      'an age without a unit',
      changed('tcp: "127.0.0.1:5432"', 'sql: select 1, expect: { age: §"<= 10" }'),
      'healthy.0.expect.age: a sign and a duration belong here: "<= 1h", "<= {rpo}"',
    ],
    [
      'an age by an objective that the plan has not',
      changed('runbook: disaster-recovery,', 'check: { reconcile: true, expect: { age: §"<= {rpo}" } },'),
      'groups.0.steps.0.check.expect.age: the plan has no rpo: add it to `objectives`',
    ],
    ...['nohost', '127.0.0.1:99999', 'db:0', ':5432', 'db:'].map((address) => [
      `the address ${address}`,
      changed('"127.0.0.1:5432"', `§"${address}"`),
      'healthy.0.tcp: this is not HOST:PORT with a port from 1 to 65535: db.example.com:5432',
    ]),
    [
      'something that a check by http does not look at',
      changed('tcp: "127.0.0.1:5432"', 'http: "http://db/", expect: { rows: §"> 0" }'),
      'healthy.0.expect.rows: a check by http does not look at this: it takes status, text',
    ],
    [
      'something that a check by tcp does not look at',
      changed('"127.0.0.1:5432"', '"db:1", expect: { text: §hello }'),
      'healthy.0.expect.text: a check by tcp does not look at this: it takes nothing of `expect`',
    ],
    ...['2020-01-01', '2020-02-30T01:00:00Z', '2020-01-01T01:00:00'].map((time) => [
      `the time ${time}`,
      changed('runbook: disaster-recovery', `runbook: restore-point-in-time, with: { time: §"${time}" }`),
      'groups.0.steps.0.with.time: a time with its zone belongs here, in RFC 3339: 2026-03-01T02:59:00Z',
    ]),
    [
      'a second recovery into the target of another group',
      changed(
        'healthy',
        '  - { id: two, for: { name: db-2, target: §db-1-dr }, steps: [{ id: x, runbook: disaster-recovery }] }\nhealthy',
      ),
      'groups.1.for.target: group data already recovers db-1 into db-1-dr',
    ],
  ])('%s is reported with its place', (_, marked, wanted) => {
    const before = marked.slice(0, marked.indexOf('§')).split('\n');
    const place = `${before.length}:${(before.at(-1) ?? '').length + 1}`;
    expect(problemsOf(marked.replace('§', ''))).toContain(`${place} ${wanted}`);
  });

  test.each([
    ['"[::1]:5432"', 'tcp'],
    ['"https://example.com/", expect: { status: [200, 204], text: ready }', 'http'],
    ['[pg_isready], expect: { exit: 2, text: no, rows: "> 0" }', 'command'],
    ['select 1, expect: { rows: ">=1000", age: "<= 1h30m" }', 'sql'],
  ])('accepts the check %s by %s', (value, kind) => {
    expect(problemsOf(changed('tcp: "127.0.0.1:5432"', `${kind}: ${value}`))).toEqual([]);
  });

  test('may look at the age by its own objectives', () => {
    const text = changed('groups:', 'objectives: { rpo: 1h }\ngroups:');
    const check = 'sql: select 1, expect: { age: "<= {rpo}" }';
    expect(problemsOf(text.replace('tcp: "127.0.0.1:5432"', check))).toEqual([]);
  });

  test('may recover into one target by two groups of which only one is done', () => {
    const step = (when: string) => `steps: [{ id: x, runbook: disaster-recovery, when: ${when} }]`;
    const group = (id: string, when: string) =>
      `  - { id: ${id}, for: { name: db-1, target: db-1-dr }, ${step(when)} }\n`;
    const head = 'plan: west\ngroups:\n';
    expect(problemsOf(`${head}${group('up', 'source-up')}${group('down', 'source-down')}`)).toEqual([]);
    expect(problemsOf(`${head}${group('up', 'source-up')}${group('again', 'source-up')}`)).toHaveLength(1);
  });

  test('has a JSON Schema that knows every key', () => {
    const text = JSON.stringify(planJsonSchema());
    for (const key of ['activation', 'stopWhen', 'failedShare', 'landed', 'onExpiry', 'rehearsal', 'finally'])
      expect(text).toContain(`"${key}"`);
  });
});

/** A config that lacks nothing, with instances that hold nothing. */
const AROUND = { surroundings: surroundingsWith(6), filled: new Set<string>() };

describe('weaknesses of a plan', () => {
  const findings = (check: string) =>
    weaknessesIn(readPlan(changed('tcp: "127.0.0.1:5432"', check), 'p').plan, AROUND).map(
      ({ message }) => message,
    );

  test.each([
    ['sql: select 1'],
    ['sql: select count(*) from orders, expect: { rows: ">= 0" }'],
    ['sql: select count(*) from orders, expect: { rows: ">= -0.5" }'],
    ['sql: select count(*) from orders, expect: { rows: "<= 99999999999999999999" }'],
    ['reconcile: true'],
    ['command: ["true"]'],
  ])('a check that cannot fail is a weakness: %s', (check) => {
    expect(findings(check)).toMatchObject([expect.stringContaining('this check cannot fail')]);
  });

  test.each([
    ['sql: select count(*) from orders, expect: { rows: "> 0" }'],
    ['sql: select count(*) from orphans, expect: { rows: "= 0" }'],
    ['reconcile: true, expect: { age: "<= 1h" }'],
    ['command: [pg_isready]'],
    ['http: "http://127.0.0.1/health"'],
  ])('a check that can fail is not a weakness: %s', (check) => {
    expect(findings(check)).toEqual([]);
  });

  test('a notification without a recipient is a weakness', () => {
    const { plan } = readPlan(`${GOOD}finally: { steps: [{ id: tell, notify: { text: over } }] }\n`, 'p');
    expect(weaknessesIn(plan, AROUND)).toEqual([]);
    const surroundings = { ...AROUND.surroundings, notified: [] };
    expect(weaknessesIn(plan, { ...AROUND, surroundings })).toMatchObject([
      { path: ['finally', 'steps', 0, 'notify'], message: expect.stringContaining('tell tells nobody') },
    ]);
  });

  test('too few scratch instances for a rehearsal are a weakness', () => {
    const { plan } = readPlan(`${GOOD}drill: { every: 90d, into: "scratch-*" }\n`, 'p');
    expect(weaknessesIn(plan, AROUND)).toMatchObject([
      { path: ['drill', 'into'], message: expect.stringContaining('there are 0') },
    ]);
  });

  test('a target that holds data is a weakness', () => {
    const { plan } = readPlan(GOOD, 'p');
    const { groups } = resolvePlan(plan, AROUND.surroundings);
    const target = groups[0]?.lanes[0]?.target ?? '';
    expect(weaknessesIn(plan, { ...AROUND, filled: new Set([target, 'another']) })).toMatchObject([
      { path: ['groups', 0, 'for', 'target'], message: expect.stringContaining(`target ${target} holds`) },
    ]);
  });

  test('a step that changes something without a way back is a weakness', () => {
    const { plan } = readPlan(changed(', undo: none; the source stays', ''), 'p');
    expect(weaknessesIn(plan, AROUND)).toMatchObject([{ path: ['groups', 0, 'steps', 0, 'id'] }]);
  });
});

test('a forecast runs the waves one after another, with the time within which nine of ten earlier runs ended', () => {
  const text = changed('    steps:', '    waves: [1, 1]\n    settle: 1m\n    steps:');
  const read = readPlan(text, 'p');
  const { groups } = resolvePlan(read.plan, surroundingsWith(6));
  const input = { ...read, groups, rehearsal: false, source: 'up' as const };
  expect(forecastOf(input, () => 600_000)).toMatchObject({
    totalMs: 1_260_000,
    path: ['data'],
    unknown: 0,
    steps: 2,
  });
  expect(forecastOf(input, () => undefined)).toMatchObject({ unknown: 2 });
});

describe('a rehearsal', () => {
  const scratch = (names: readonly string[]) => {
    const around = surroundingsWith(6);
    const one = around.instances['db-1-dr'] as (typeof around.instances)[string];
    const more = Object.fromEntries(names.map((name) => [name, { ...one, rehearsal: true }]));
    return { ...around, instances: { ...around.instances, ...more } };
  };
  const targets = (into: string, names: readonly string[]) => {
    const { plan } = readPlan(`${GOOD}drill: { every: 90d, into: "${into}" }\n`, 'p');
    const { groups, misfits } = resolvePlan(plan, scratch(names), { rehearsal: true });
    return [groups.flatMap(({ lanes }) => lanes.map(({ target }) => target)), misfits] as const;
  };

  test('goes into the scratch instances that the plan names, each into one of its own', () => {
    expect(targets('scratch-*', ['scratch-1', 'scratch-2', 'scratch-3'])).toEqual([
      ['scratch-1', 'scratch-2'],
      [],
    ]);
    const [byName] = targets('{name}-scratch', []);
    expect(byName[0]).toMatch(/-scratch$/u);
  });

  test('is refused where there are too few of them, or one is not scratch', () => {
    expect(targets('scratch-*', ['scratch-1'])[1]).toMatchObject([
      { path: ['drill', 'into'], message: expect.stringContaining('needs 2 scratch instances') },
    ]);
    expect(targets('{name}-dr', [])[1]).toMatchObject([
      { message: expect.stringContaining('is no scratch instance') },
    ]);
  });

  test('changes nothing about a live run of the plan', () => {
    const { plan } = readPlan(`${GOOD}drill: { every: 90d, into: "scratch-*" }\n`, 'p');
    const { groups, misfits } = resolvePlan(plan, scratch([]));
    expect([groups[0]?.lanes[0]?.target, misfits]).toEqual([expect.stringMatching(/-dr$/u), []]);
  });
});

test('a first plan covers every instance that has a target, in groups by tag, and fits', () => {
  const around = surroundingsWith(6);
  const text = starterPlan('first', around) ?? '';
  const read = readPlan(text, 'p');
  const { groups, misfits } = resolvePlan(read.plan, around);
  expect(misfits).toEqual([]);
  expect(groups.map(({ id, lanes }) => [id, lanes.length])).toEqual([
    ['tier-1', 2],
    ['tier-2', 2],
    ['tier-3', 2],
  ]);
  expect(weaknessesIn(read.plan, AROUND).map(({ path }) => path)).toEqual([['plan']]);
});
