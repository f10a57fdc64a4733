// What models look at: a larger picture is made smaller by them anyway.
const LONGEST_SIDE = 1568;
const MOST_BYTES = 20_000_000;
// In base64, of 3.5 MB.
const MOST_CHARACTERS = 4_500_000;

/**
 * A picture as a `data:` URL, small enough to be sent, and without the place and camera that a photo
 * tells.
 *
 * @throws Error with a sentence for a person.
 */
export async function pictureOf(file: File): Promise<string> {
  if (!["image/png", "image/jpeg", "image/webp", "image/gif"].includes(file.type))
    throw new Error("Models take PNG, JPEG, WebP and GIF pictures.");
  if (file.size > MOST_BYTES) throw new Error("The picture is larger than 20 MB.");
  const bitmap = await createImageBitmap(file).catch(() => {
    throw new Error("The browser cannot read this picture.");
  });
  const scale = Math.min(1, LONGEST_SIDE / Math.max(bitmap.width, bitmap.height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  const context = canvas.getContext("2d");
  if (!context) throw new Error("The browser cannot make this picture smaller.");
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  if (file.type === "image/png") {
    const png = canvas.toDataURL("image/png");
    if (png.length <= MOST_CHARACTERS) return png;
  }
  // A JPEG has no transparency: what is transparent would become black.
  context.globalCompositeOperation = "destination-over";
  context.fillStyle = "white";
  context.fillRect(0, 0, canvas.width, canvas.height);
  return canvas.toDataURL("image/jpeg", 0.85);
}
