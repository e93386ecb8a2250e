import { describe, expect, test } from 'vitest';
import { junitText } from '../../../src/commands/drill/junit.ts';
import { chapter, drillAt } from '../../report/drill/drills.ts';

const AT = '2026-03-10T12:00:00Z';

/** The attributes of each element of that name, in order. */
function elements(xml: string, name: string): Record<string, string>[] {
  const tags = [...xml.matchAll(new RegExp(`<${name}((?: [\\w.]+="[^"<>]*")*)/?>`, 'g'))];
  return tags.map(([, text = '']) =>
    Object.fromEntries([...text.matchAll(/ ([\w.]+)="([^"]*)"/g)].map(([, key, value]) => [key, value])),
  );
}

describe('a drill as JUnit', () => {
  test('is one suite with a case for each run, check and table, and adds up', () => {
    const xml = junitText(drillAt(AT), 'host');
    expect(elements(xml, 'testsuite')).toEqual([
      {
        ...{ name: 'lifeboat drill full', timestamp: '2026-03-10T12:00:00', hostname: 'host' },
        ...{ tests: '3', failures: '0', errors: '0', skipped: '0', time: '12.500' },
      },
    ]);
    expect(elements(xml, 'testcase').map(({ name, classname }) => [classname, name])).toEqual([
      ['lifeboat.rotate-key', 'rotate the key and prove a backup'],
      ['lifeboat.rotate-key', 'rotate the key and prove a backup: every order is the sum of its lines'],
      ['lifeboat.rotate-key', 'rotate the key and prove a backup: table orders'],
    ]);
    expect(xml).toContain('<system-out>120 rows compared</system-out>');
    expect(elements(xml, 'property')).toContainEqual({
      name: 'rotate-key.rto',
      value: '4 s, objective 5 min met',
    });
  });

  test('has failures, errors and what was skipped, each with its text', () => {
    const chapters = [
      { ...chapter, outcome: 'not-proven' as const, tables: [{ name: 'orders', rows: 1, equal: false }] },
      { ...chapter, outcome: 'broken' as const, checks: [], tables: [] },
      { ...chapter, outcome: 'unplayed' as const },
    ];
    const xml = junitText(drillAt(AT, { outcome: 'failed', chapters }), 'host');
    expect(elements(xml, 'testsuite')[0]).toMatchObject({
      tests: '5',
      failures: '1',
      errors: '1',
      skipped: '1',
    });
    expect(xml).toContain('>table orders differs from what was expected</failure>');
    expect(xml).toContain('>its run was not closed</error>');
  });

  test.for([
    ['failed', undefined, 'no PostgreSQL here'],
    ['left', 'the drill was left before its end', undefined],
    ['running', 'the drill was not proven', undefined],
  ] as const)('a drill that %s before anything was compared is an error', ([outcome, said, failure]) => {
    const record = drillAt(AT, { outcome, chapters: [], ...(failure === undefined ? {} : { failure }) });
    const xml = junitText(record, 'host');
    expect(elements(xml, 'testsuite')[0]).toMatchObject({ tests: '1', errors: '1' });
    expect(elements(xml, 'error')[0]?.['message']).toBe(failure ?? said);
  });

  test('no text of a drill is markup, or a character that XML does not have', () => {
    const failure = '</error>"&\u0000\u001b[31m<x>';
    const xml = junitText(drillAt(AT, { outcome: 'failed', chapters: [], failure }), 'a<b');
    expect(xml).toContain('&lt;/error&gt;&quot;&amp;');
    expect(xml).not.toMatch(/[\u0000-\u0009\u000b-\u001f]|<x>|a<b/);
  });
});
