/** Where a provider sends the browser: by a redirect, or by a form that it submits. */
export interface SentBack {
  readonly url: URL;
  readonly method: 'GET' | 'POST';
  /** The fields of the form, or of the query. */
  readonly fields: URLSearchParams;
}

/** Plays the browser of a person who opens the page of a provider. Rejects when the provider shows an error. */
export async function visitProvider(address: string | URL): Promise<SentBack> {
  const answer = await fetch(address, { redirect: 'manual' });
  const location = answer.headers.get('location');
  if (answer.status === 302 && location !== null) {
    const url = new URL(location);
    return { url, method: 'GET', fields: url.searchParams };
  }
  const page = await answer.text();
  const action = /<form method="post" action="([^"]*)">/.exec(page)?.[1];
  if (answer.status !== 200 || action === undefined) throw new Error(`the provider shows ${answer.status} ${page}`);
  const fields = new URLSearchParams();
  for (const [, name = '', value = ''] of page.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)) {
    fields.append(plain(name), plain(value));
  }
  return { url: new URL(plain(action)), method: 'POST', fields };
}

function plain(text: string): string {
  return text.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
}
