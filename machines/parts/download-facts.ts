import type { Fact } from './runbook.ts';
import type { DownloadedFile } from './task-data.ts';

/** What a download shows that speaks against it, before and after it is read to its last byte. */
export function downloadFacts(file: DownloadedFile | undefined): Fact[] {
  const value = WORDS[file?.verdict ?? 'whole'];
  return value === undefined ? [] : [{ label: 'download', value, tone: 'warn' }];
}

const WORDS: Readonly<Record<NonNullable<DownloadedFile['verdict']>, string | undefined>> = {
  whole: undefined,
  'other-size': 'not of the size that the service lists',
  'size-unknown': 'the service neither lists nor announces its size',
  'not-encrypted': 'NOT ENCRYPTED: it begins as a gzip file',
};
