import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { JsonTestResults } from 'vitest/node';

export interface Count {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** What failed, by name; the first of them with the first words of why. */
  readonly names: readonly string[];
  readonly files: readonly FileTime[];
}

export interface FileTime {
  readonly file: string;
  readonly seconds: number;
}

/** This many failures are shown with their reason; those after them by name alone. */
const MAX_REASONS = 20;

/** This many first lines of why a test failed stand below its name. */
const REASON_LINES = 5;

/**
 * What the tests' own report says. A file that failed without a failed test (it could not be read, or its
 * set-up broke) counts as one failure; so does a run that failed for no reason that the report knows.
 */
export function countTests(ok: boolean, report: string): Count {
  const {
    numPassedTests: passed,
    numPendingTests,
    numTodoTests,
    numFailedTests,
    testResults,
  } = readReport(report);
  const broken = testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  );
  const failed = numFailedTests + broken.length;
  const failures = [
    ...broken.map(({ name }) => ({ name: here(name), why: '' })),
    ...testResults.flatMap(({ name: file, assertionResults }) =>
      assertionResults
        .filter(({ status }) => status === 'failed')
        .map(({ fullName, failureMessages }) => ({
          name: `${here(file)}: ${fullName}`,
          why: failureMessages?.[0] ?? '',
        })),
    ),
  ];
  return {
    passed,
    failed: ok ? failed : Math.max(failed, 1),
    skipped: numPendingTests + numTodoTests,
    names: failures.map(({ name, why }, at) => {
      const reason = why === '' || at >= MAX_REASONS ? [] : why.split('\n').slice(0, REASON_LINES);
      return [name, ...reason].join('\n            ');
    }),
    files: testResults.map(({ name, startTime, endTime }) => ({
      file: here(name),
      seconds: (endTime - startTime) / 1000,
    })),
  };
}

function here(file: string): string {
  return relative(process.cwd(), file);
}

/** The report of Vitest's JSON reporter; one without tests when there is none. */
function readReport(report: string): JsonTestResults {
  const nothing = {
    numPassedTests: 0,
    numFailedTests: 0,
    numPendingTests: 0,
    numTodoTests: 0,
    testResults: [],
  };
  try {
    return { ...nothing, ...JSON.parse(readFileSync(report, 'utf8')) };
  } catch {
    return nothing as unknown as JsonTestResults;
  }
}
