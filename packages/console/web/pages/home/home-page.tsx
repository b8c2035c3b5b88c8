import { Page } from '../../parts/page.tsx';
import { Plots } from './plots.tsx';

export default function HomePage() {
  return (
    <Page title="Home">
      <Plots />
    </Page>
  );
}
