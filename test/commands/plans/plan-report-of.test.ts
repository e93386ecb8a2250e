import { expect, test } from 'vitest';
import { planReportOf } from '../../../src/commands/plans/plan-report-of.ts';
import { CHILDREN, inputOf, planEntries, WELL } from '../../report/plan/plan-run.ts';

test('the report of a plan reads one of its runs after another, each once, and what all have in common once', async () => {
  const done: string[] = [];
  const entries = new Map(CHILDREN.map((child) => [`run/${child.runId}`, child.entries]));
  entries.set('run/01P', planEntries(inputOf(), WELL, 1200));
  const reports = await planReportOf(
    {
      read: async (stream) => {
        done.push(`read ${stream}`);
        return entries.get(stream) ?? [];
      },
      rows: async () =>
        CHILDREN.map((child) => ({ key: child.runId, group: '01P', sort: '', value: child as never })),
      log: {
        head: async () => {
          done.push('read the head');
          return { size: 0, root: '', note: undefined };
        },
      },
    },
    { runId: '01P' },
    (runId, report, own) => {
      expect(report.run).toMatchObject({ id: runId, entries: own.length });
      done.push(`took ${runId}`);
    },
  );
  const ofRuns = done.filter((what) => /(?:run\/|took )01C/u.test(what));
  expect(ofRuns).toEqual(CHILDREN.flatMap(({ runId }) => [`read run/${runId}`, `took ${runId}`]));
  const inCommon = done.filter((what) => !/01C|instance/u.test(what));
  expect(inCommon).toEqual([...new Set(inCommon)]);
  expect(inCommon).toContain('read the head');
  expect([...(reports?.children ?? [])]).toEqual(CHILDREN.map(({ runId }) => runId));
});
