import { plain } from '../markdown.ts';

export function section(title: string, text: string): string {
  return `## ${title}\n\n${text}`;
}

/** `YYYY-MM-DD HH:MM:SS` of a stored time. */
export function time(at: string): string {
  return plain(at.replace('T', ' ').replace(/\.\d+Z$/u, ''), 24);
}
