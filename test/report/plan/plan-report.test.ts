import { describe, expect, test } from 'vitest';
import { comparePlanReports } from '../../../src/report/plan/plan-comparison.ts';
import { renderPlanReport } from '../../../src/report/render-report.ts';
import { readHtml } from '../html-words.ts';
import { at, CHILDREN, child, inputOf, PLAN, planEntries, reportOn, WELL } from './plan-run.ts';

const input = inputOf();
const well = () => reportOn(planEntries(input, WELL, 1200), CHILDREN);

describe('the record of a plan', () => {
  test('measures the recovery time to the last green health check, and the worst recovery point', () => {
    const { measured, groups } = well();
    expect(measured).toMatchObject({
      status: 'over',
      since: 'run',
      until: at(950),
      rto: { limitSeconds: 1800, measuredSeconds: 950, result: 'met' },
      rpo: { limitSeconds: 3600, measuredSeconds: 600, result: 'met' },
    });
    expect(groups.find(({ id }) => id === 'data')).toMatchObject({
      seconds: 690,
      rto: { measuredSeconds: 700, result: 'met' },
      rpo: { measuredSeconds: 600, result: 'met' },
      waves: [
        { wave: 1, from: at(10), until: at(290), lanes: ['db-1'] },
        { wave: 2, from: at(300), until: at(690), lanes: ['db-4'] },
      ],
    });
  });

  test('ends with the commands that check its receipt, once it is over', () => {
    expect(renderPlanReport(well(), 'md')).toContain('openssl dgst -sha256 -verify lifeboat-receipts.pub');
    const open = reportOn(planEntries(input, WELL), CHILDREN);
    expect(renderPlanReport(open, 'md')).not.toContain('openssl');
  });

  test('counts from the incident where its time was given', () => {
    const known = { ...input, incidentAt: at(-600) } as typeof input;
    const { measured } = reportOn(planEntries(known, WELL, 1200), CHILDREN, known);
    expect(measured).toMatchObject({ since: 'incident', rto: { measuredSeconds: 1550, result: 'met' } });
  });

  test('says that a time over the limit is missed, even while the run is open', () => {
    const entries = planEntries(input, [
      ...WELL.slice(0, 4),
      [2000, { type: 'operator.setSource', source: 'down' }],
    ]);
    const { measured, outcome, open } = reportOn(entries, CHILDREN.slice(0, 2));
    expect(outcome.status).toBe('open');
    expect(measured).toMatchObject({ status: 'running', rto: { result: 'missed' } });
    expect(open[0]).toContain('the run of the plan');
  });

  test('never says that an objective is met when nothing shows a recovery', () => {
    const blind = inputOf(PLAN.replace(/^healthy.*$/mu, ''));
    const { rto } = reportOn(
      planEntries(blind, WELL.slice(0, 8), 1200),
      CHILDREN.slice(0, 5),
      blind,
    ).measured;
    expect(rto).toMatchObject({ result: 'not decided', why: expect.stringContaining('no checks of health') });
    const { measured } = reportOn(planEntries(input, WELL, 1200, false), CHILDREN);
    expect(measured.rto).toMatchObject({ result: 'not decided', why: 'the run was closed without proof' });
  });

  test('leaves the recovery point undecided while one of the instances was not measured', () => {
    const [first, ...others] = CHILDREN;
    const unmeasured = {
      ...first,
      report: { ...first?.report, measured: { ...first?.report.measured } },
    } as never as (typeof CHILDREN)[number];
    Object.assign(unmeasured.report.measured ?? {}, { rpo: { result: 'not decided' } });
    const { measured } = reportOn(planEntries(input, WELL, 1200), [unmeasured, ...others]);
    expect(measured.rpo).toMatchObject({
      measuredSeconds: 600,
      result: 'not decided',
      why: '1 of 2 not measured',
    });
  });

  test('lists each deviation with its time, its person and its reason', () => {
    const events = [
      ...WELL.slice(0, 3),
      [250, { type: 'group.held', group: 'data', why: 'failed', lanes: ['db-1'] }],
      [260, { type: 'operator.resumeGroup', group: 'data' }, 'bob'],
      [270, { type: 'operator.takeOut', group: 'data', lane: 'db-4', text: 'it is retired' }, 'bob'],
      [280, { type: 'operator.skipStep', group: 'people', lane: '-', step: 'tell', text: 'all know' }, 'eve'],
      [285, { type: 'operator.doneOutside', group: 'data', lane: 'db-1', step: 'switch', text: 'by DNS' }],
    ] as const;
    const failed = child({
      group: 'data',
      lane: 'db-1',
      step: 'recover',
      from: 10,
      until: 240,
      result: 'failed',
    });
    const { deviations, groups } = reportOn(planEntries(input, events as never), [failed]);
    expect(deviations).toEqual([
      {
        ...{ at: at(260), by: 'bob', kind: 'continued without', what: 'data/db-1' },
        reason: 'it failed, and the group continued without it',
      },
      { at: at(270), by: 'bob', kind: 'taken out', what: 'data/db-4', reason: 'it is retired' },
      { at: at(280), by: 'eve', kind: 'skipped', what: 'people/-/tell', reason: 'all know' },
      { at: at(285), by: 'ada', kind: 'done outside', what: 'data/db-1/switch', reason: 'by DNS' },
    ]);
    const lanes = groups.find(({ id }) => id === 'data')?.lanes;
    expect(lanes?.map(({ name, state }) => [name, state])).toEqual([
      ['db-1', 'failed'],
      ['db-4', 'taken out'],
    ]);
  });

  test('says when a group waited for a person, and until when', () => {
    const events = [
      ...WELL.slice(0, 3),
      [250, { type: 'group.held', group: 'data', why: 'promotion', lanes: [] }],
      [290, { type: 'operator.resumeGroup', group: 'data' }],
    ] as const;
    const { groups, deviations } = reportOn(planEntries(input, events as never), CHILDREN.slice(0, 2));
    expect(groups[0]?.held).toEqual([
      { from: at(250), until: at(290), why: 'a person lets the next wave begin' },
    ]);
    expect(deviations).toEqual([]);
  });

  test('says once what went wrong in several of its runs', () => {
    const alarm = { title: 'SKIPPED', text: 'a step was left out', at: at(5), by: 'ada' };
    const loud = (count: number) =>
      CHILDREN.map((one, index) =>
        index < count ? { ...one, report: { ...one.report, alarms: [alarm] } } : one,
      );
    const titles = (count: number) =>
      reportOn(planEntries(input, WELL, 1200), loud(count)).alarms.map(({ title }) => title);
    expect(titles(1)).toEqual(['SKIPPED (run 01C-data-db-1-recover-1)']);
    expect(titles(5)).toEqual(['SKIPPED (5 times)']);
  });

  test('says at its head which steps people skipped, with their words, and each of them once', () => {
    const words = { event: 'operator.skipStep', label: 'skip people/-/tell', reason: 'all know' };
    const skip = { type: 'operator.skipStep', group: 'people', lane: '-', step: 'tell', text: 'all know' };
    const told = (count: number) => {
      const entries = planEntries(input, [...WELL.slice(0, 6), [750, skip], ...WELL.slice(6)] as never, 1200);
      const at6 = entries.findIndex(({ body }) => JSON.stringify(body).includes('skipStep'));
      const row = entries[at6] as (typeof entries)[number];
      const answers = Array.from({ length: count }, () => ({ ...row, type: 'answer', body: words }));
      const alarm = { title: 'SKIPPED: a step was left out', text: 'skip', at: at(750), by: 'ada' };
      const children = CHILDREN.map((one) =>
        one.step === 'tell'
          ? { ...one, runbook: 'plan-step', report: { ...one.report, alarms: [alarm] } }
          : one,
      );
      const all = [...entries.slice(0, at6), ...answers, ...entries.slice(at6)] as typeof entries;
      return reportOn(all, children).alarms.map(({ title, text }) => [title, text]);
    };
    const text = 'skip people/-/tell: all know';
    expect(told(1)).toEqual([['SKIPPED: a step was left out', text]]);
    expect(told(3)).toEqual([['SKIPPED: a step was left out (3 times)', [text, text, text].join('; ')]]);
  });

  test('lists its deviations in the order in which they happened, whoever made them', () => {
    const events = [...WELL.slice(0, 3), [500, { type: 'operator.stop', text: 'enough' }, 'bob']] as const;
    const one = child({ group: 'data', lane: 'db-1', step: 'recover', from: 10, until: 240, result: 'done' });
    const deviations = [{ kind: 'retried' as const, what: 'try again', reason: '' }];
    const report = reportOn(planEntries(input, events as never), [
      { ...one, report: { ...one.report, deviations } },
    ]);
    expect(report.deviations.map(({ at: when, kind }) => [when, kind])).toEqual([
      [at(240), 'in a step'],
      [at(500), 'stopped'],
    ]);
    expect(renderPlanReport(report, 'md')).toContain('no reason was given');
  });

  test('names as open what has not begun while the run is open: whole groups, and instances of later waves', () => {
    const { open } = reportOn(planEntries(input, WELL.slice(0, 3) as never), CHILDREN.slice(0, 1));
    expect(open).toContain('people: not begun');
    expect(open).toContain('healthy: not begun');
    expect(open).toContain('data: not begun on db-4');
    expect(reportOn(planEntries(input, WELL, 1200), CHILDREN).open).toEqual([]);
  });

  test('has what regulations ask for, and leaves open what is unknown', () => {
    const { requirements, undo } = well();
    const answers = new Map(requirements.map(({ rule, asks, answer }) => [`${rule}: ${asks}`, answer]));
    expect(answers.get('NIS2 annex 4.1.2: conditions for activation')).toContain('when the site is lost');
    expect(answers.get('NIS2 annex 4.1.2: order of recovery')).toBe('data, people, healthy');
    expect(answers.get('DORA Art. 12(3): segregated targets')).toBeUndefined();
    expect(answers.get('DORA Art. 12(6): recovery time and point')).toBe('RTO met, RPO met');
    expect([...answers.values()]).toContain('RTO 30 min, RPO 1 h');
    expect(undo).toEqual([
      expect.objectContaining({ step: 'recover', undo: 'none; the source stays' }),
      expect.objectContaining({ step: 'switch', undo: 'by hand: switch back' }),
      expect.objectContaining({ step: 'tell', undo: 'none; told is told' }),
    ]);
    const silent = inputOf(PLAN.replace(/^(?:about|activation|contacts).*$/gmu, ''));
    const bare = reportOn(planEntries(silent, WELL, 1200), CHILDREN, silent);
    const open = bare.requirements.filter(({ answer }) => answer === undefined).map(({ asks }) => asks);
    expect(open).toEqual(
      expect.arrayContaining(['purpose', 'contacts and channels', 'conditions for activation']),
    );
    expect(renderPlanReport(bare, 'md')).toContain('The plan does not say it.');
  });
});

describe('the page of a plan', () => {
  test('has a picture and no script, and links only to the reports beside it', () => {
    const { elements } = readHtml(
      renderPlanReport(well(), 'html', {}, (run) => (run.includes('db-1') ? `${run}.html` : undefined)),
    );
    const names = new Set(elements.map(({ name }) => name));
    expect(names).toContain('svg');
    expect(names).not.toContain('script');
    const links = elements.flatMap(({ name, attributes }) =>
      name === 'a' ? [attributes.get('href') ?? ''] : [],
    );
    const outside = new Set(links.filter((link) => !link.startsWith('#')));
    expect([...outside].toSorted()).toEqual(['01C-data-db-1-recover-1.html', '01C-data-db-1-switch-1.html']);
  });

  test.each(['javascript:alert(1)', '//host/x', '../x.html', '/etc/passwd', 'a b.html'])(
    'makes no link of %s',
    (file) => {
      for (const format of ['html', 'md'] as const)
        expect(renderPlanReport(well(), format, {}, () => file)).not.toContain(file);
    },
  );

  test('is Markdown with a table of groups and waves', () => {
    const text = renderPlanReport(well(), 'md');
    expect(text).toContain('| Group | Wave | Begun | Ended | Took | Instances | What came of it |');
    expect(text).toContain(
      '| data | 2 | 2026-03-01 03:05:00 | 2026-03-01 03:11:30 | 6 min 30 s | db-4 | 1 done |',
    );
  });
});

describe('two runs of plans side by side', () => {
  test('are compared group by group, the older one first', () => {
    const first = well();
    const later = { ...first, run: { ...first.run, id: '01Q', startedAt: at(86_400) } };
    const groups = first.groups.map((one) => (one.id === 'data' ? { ...one, seconds: 345 } : one));
    const { runs, steps, cautions, parts } = comparePlanReports({ ...later, groups }, first, new Date(0));
    expect(runs.map(({ id }) => id)).toEqual(['01P', '01Q']);
    expect(parts).toBe('groups');
    expect(steps[0]).toEqual({ label: 'data', first: 690, second: 345, difference: -345, ratio: 0.5 });
    expect(cautions).toEqual([]);
  });

  test('come with a caution where the text of the plan was changed in between', () => {
    const other = { ...well(), run: { ...well().run, id: '01Q', sha256: '0'.repeat(64) } };
    expect(comparePlanReports(well(), other, new Date(0)).cautions).toEqual([
      'the text of the plan was changed in between',
    ]);
  });

  test('come with a caution where only one was a real run', () => {
    const other = { ...well(), run: { ...well().run, id: '01Q', kind: 'rehearsal' as const } };
    expect(comparePlanReports(well(), other, new Date(0)).cautions).toEqual([
      'one is a real run, the other a rehearsal',
    ]);
  });
});
