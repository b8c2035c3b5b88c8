import { useEffect, useRef } from 'react';

interface PictureProps {
  readonly label: string;
  /** Base64. */
  readonly png: string;
}

/** A picture that stands in no address: the content security policy allows none of `data:` and `blob:`, so that its bytes are drawn. */
export function Picture({ label, png }: PictureProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => void draw(canvas.current!, png), [png]);
  return <canvas ref={canvas} role="img" aria-label={label} width={0} height={0} />;
}

async function draw(canvas: HTMLCanvasElement, png: string): Promise<void> {
  const bytes = Uint8Array.from(atob(png), (letter) => letter.charCodeAt(0));
  const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
  canvas.width = bitmap.width;
  canvas.height = bitmap.height;
  canvas.getContext('2d')!.drawImage(bitmap, 0, 0);
  bitmap.close();
}
