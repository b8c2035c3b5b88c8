/** Works on all items in order, at most `limit` of them at a time. Rejects with the first failure; the other items are still worked on. */
export async function mapConcurrently<T>(
  items: readonly T[],
  limit: number,
  work: (item: T, position: number) => Promise<void>,
): Promise<void> {
  const left = items.entries();
  await Promise.all(
    Array.from({ length: Math.min(limit, items.length) }, async () => {
      for (const [position, item] of left) await work(item, position);
    }),
  );
}
