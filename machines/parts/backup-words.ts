/** What is said before a download that the service says it does not offer. */
export function notOffered(id: number): string {
  return `the service does not offer backup ${id} for download (downloadable: false); trying anyway`;
}
