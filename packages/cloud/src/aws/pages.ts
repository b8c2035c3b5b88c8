interface Page {
  readonly IsTruncated?: boolean | undefined;
  readonly Marker?: string | undefined;
}

/** All entries of a list that IAM answers in pages. */
export async function allPages<P extends Page, T>(
  page: (from: { Marker?: string }) => Promise<P>,
  entries: (page: P) => readonly T[] | undefined,
): Promise<T[]> {
  const all: T[] = [];
  let from: { Marker?: string } = {};
  for (;;) {
    const answer = await page(from);
    all.push(...(entries(answer) ?? []));
    if (!answer.IsTruncated || answer.Marker === undefined) return all;
    from = { Marker: answer.Marker };
  }
}
