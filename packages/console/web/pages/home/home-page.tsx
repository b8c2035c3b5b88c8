import { Page } from '../../parts/page.tsx';
import { AttentionList } from './attention-list.tsx';
import { Plots } from './plots.tsx';

/** What needs a person, and below it how the server does. */
export default function HomePage() {
  return (
    <Page title="Home">
      <AttentionList />
      <Plots />
    </Page>
  );
}
