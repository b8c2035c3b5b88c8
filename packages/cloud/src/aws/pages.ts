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

/** Works on all items, at most `limit` of them at a time. Rejects with the first failure. */
export async function mapConcurrently<T>(items: readonly T[], limit: number, work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  await Promise.all(
    Array.from({ length: limit }, async () => {
      for (const item of left) await work(item);
    }),
  );
}
