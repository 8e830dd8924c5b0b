//! A picture made fit for the model: checked, and made smaller where the API would refuse it.
//!
//! A picture that the API refuses is refused with every later request, so none is sent unseen.
//! The limits are those of the Messages API: 5 MB as base64; 8,000 pixels a side, but 2,000 in a
//! conversation with many pictures.

use std::io::Cursor;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use image::codecs::jpeg::JpegEncoder;
use image::imageops::FilterType;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder as _, ImageFormat, ImageReader, Limits, Rgb, RgbImage};
use serde_json::{Value, json};

/// Most pixels a side.
const SIDE: u32 = 2_000;
/// More bytes are encoded again (Claude Code docs 2.1.240).
const LIGHT: usize = 500_000;
/// Most bytes: 5 MB when they are written as base64.
const HEAVY: usize = 3_750_000;
/// Largest side that is decoded at all, in pixels.
const DECODED_SIDE: u32 = 30_000;
/// Most memory that decoding takes, in bytes: some 100 megapixels.
const DECODED_BYTES: u64 = 400 << 20;
/// Qualities of a JPEG that are tried, the best first.
const QUALITIES: [u8; 4] = [85, 70, 50, 30];

/// Why a picture can't be shown.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BadPicture {
    #[error("it is damaged or too large to be decoded ({0})")]
    Undecodable(#[from] image::ImageError),
    #[error("it could not be made small enough")]
    TooHeavy,
}

/// A picture that the model may see.
#[derive(Debug)]
pub(crate) struct Picture {
    format: ImageFormat,
    bytes: Vec<u8>,
    /// Width and height as it was, and as it is shown, in pixels.
    original: (u32, u32),
    shown: (u32, u32),
    original_bytes: usize,
}

/// The format of a picture, by its first bytes, if the API knows it.
pub(crate) fn format(start: &[u8]) -> Option<ImageFormat> {
    let known = [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::WebP];
    image::guess_format(start).ok().filter(|it| known.contains(it))
}

impl Picture {
    /// Checks a picture, and makes it fit.
    ///
    /// # Errors
    ///
    /// Why it can't be shown.
    pub(crate) fn of(bytes: Vec<u8>) -> Result<Self, BadPicture> {
        let mut reader = ImageReader::new(Cursor::new(&bytes))
            .with_guessed_format()
            .map_err(image::ImageError::IoError)?;
        let mut limits = Limits::default();
        limits.max_image_width = Some(DECODED_SIDE);
        limits.max_image_height = Some(DECODED_SIDE);
        limits.max_alloc = Some(DECODED_BYTES);
        reader.limits(limits);
        let format = reader.format();
        let mut decoder = reader.into_decoder()?;
        let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
        let mut image = DynamicImage::from_decoder(decoder)?;
        image.apply_orientation(orientation);
        let (original, original_bytes) = ((image.width(), image.height()), bytes.len());
        let fits = original.0 <= SIDE && original.1 <= SIDE && bytes.len() <= LIGHT;
        match format {
            Some(format) if fits => {
                Ok(Self { format, bytes, original, shown: original, original_bytes })
            }
            _ => Ok(Self { original, original_bytes, ..Self::made(image, bytes.len() <= LIGHT)? }),
        }
    }

    /// A picture of these pixels, lossless if it may be and is light enough.
    ///
    /// # Errors
    ///
    /// [`BadPicture`].
    pub(crate) fn made(image: DynamicImage, lossless: bool) -> Result<Self, BadPicture> {
        let large = image.width() > SIDE || image.height() > SIDE;
        let image = if large { image.resize(SIDE, SIDE, FilterType::Triangle) } else { image };
        let size = (image.width(), image.height());
        let picture = |format, bytes: Vec<u8>| Self {
            format,
            original_bytes: bytes.len(),
            bytes,
            original: size,
            shown: size,
        };
        if lossless {
            let mut bytes = Vec::new();
            image.write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png)?;
            if bytes.len() <= LIGHT {
                return Ok(picture(ImageFormat::Png, bytes));
            }
        }
        let flat = flattened(&image);
        let mut best = Vec::new();
        for quality in QUALITIES {
            best.clear();
            JpegEncoder::new_with_quality(&mut best, quality).encode_image(&flat)?;
            if best.len() <= LIGHT {
                break;
            }
        }
        if best.len() > HEAVY {
            Err(BadPicture::TooHeavy)
        } else {
            Ok(picture(ImageFormat::Jpeg, best))
        }
    }

    /// The block of the Messages API.
    pub(crate) fn block(&self) -> Value {
        json!({"type": "image", "source": {
            "type": "base64",
            "media_type": self.format.to_mime_type(),
            "data": BASE64.encode(&self.bytes),
        }})
    }

    /// What the model should know besides, if it was made smaller: places in it have moved.
    pub(crate) fn note(&self) -> Option<String> {
        let ((width, height), (shown_width, shown_height)) = (self.original, self.shown);
        (self.original != self.shown).then(|| {
            format!(
                "[The picture has {width} x {height} pixels and is shown with {shown_width} x \
                 {shown_height}.]"
            )
        })
    }

    /// The same for programs.
    pub(crate) fn structured(&self) -> Value {
        json!({"type": "image", "file": {
            "base64": BASE64.encode(&self.bytes),
            "type": self.format.to_mime_type(),
            "originalSize": self.original_bytes,
            "dimensions": {
                "originalWidth": self.original.0,
                "originalHeight": self.original.1,
                "displayWidth": self.shown.0,
                "displayHeight": self.shown.1,
            },
        }})
    }
}

/// A JPEG has no transparency: what can be seen through is white.
fn flattened(image: &DynamicImage) -> RgbImage {
    if !image.color().has_alpha() {
        return image.to_rgb8();
    }
    let image = image.to_rgba8();
    let mut flat = RgbImage::new(image.width(), image.height());
    for (to, from) in flat.pixels_mut().zip(image.pixels()) {
        let [red, green, blue, alpha] = from.0.map(u16::from);
        let over = |it: u16| u8::try_from((it * alpha + 255 * (255 - alpha)) / 255).unwrap_or(255);
        *to = Rgb([over(red), over(green), over(blue)]);
    }
    flat
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(width: u32, height: u32, format: ImageFormat, noise: bool) -> Vec<u8> {
        let mut seed = 1_u32;
        let image = RgbImage::from_fn(width, height, |_, _| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            Rgb(if noise {
                [(seed >> 8) as u8, (seed >> 16) as u8, (seed >> 24) as u8]
            } else {
                [7; 3]
            })
        });
        let mut bytes = Vec::new();
        image.write_to(&mut Cursor::new(&mut bytes), format).unwrap();
        bytes
    }

    /// What the API would find in it.
    fn checked(picture: &Picture) -> (ImageFormat, u32, u32) {
        let data = picture.block()["source"]["data"].as_str().unwrap().to_owned();
        assert!(data.len() <= 5_000_000);
        let bytes = BASE64.decode(data).unwrap();
        let image = image::load_from_memory(&bytes).unwrap();
        (format(&bytes).unwrap(), image.width(), image.height())
    }

    #[test]
    fn a_picture_that_fits_is_shown_as_it_is() {
        for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::WebP] {
            let bytes = encoded(30, 20, format, false);
            let picture = Picture::of(bytes.clone()).unwrap();
            assert_eq!((&picture.bytes, picture.note()), (&bytes, None));
            assert_eq!(checked(&picture), (format, 30, 20));
        }
    }

    #[test]
    fn a_picture_that_is_too_large_is_made_smaller() {
        let picture = Picture::of(encoded(8_100, 90, ImageFormat::Png, false)).unwrap();
        assert_eq!(checked(&picture), (ImageFormat::Png, 2_000, 22));
        assert_eq!(
            picture.note().unwrap(),
            "[The picture has 8100 x 90 pixels and is shown with 2000 x 22.]"
        );
    }

    #[test]
    fn a_picture_that_is_too_heavy_is_encoded_again() {
        let bytes = encoded(600, 600, ImageFormat::Png, true);
        assert!(bytes.len() > LIGHT);
        let picture = Picture::of(bytes).unwrap();
        assert_eq!(checked(&picture), (ImageFormat::Jpeg, 600, 600));
        assert!(picture.bytes.len() <= LIGHT);
    }

    #[test]
    fn what_is_damaged_is_not_shown() {
        let bytes = encoded(30, 20, ImageFormat::Png, true);
        let error = Picture::of(bytes[..bytes.len() / 2].to_vec()).unwrap_err();
        assert!(error.to_string().starts_with("it is damaged or too large"), "{error}");
    }

    #[test]
    fn a_picture_that_claims_to_be_enormous_is_not_decoded() {
        let mut bytes = encoded(3, 2, ImageFormat::Png, false);
        // Width and height of the header; its sum is wrong then, but they are looked at first.
        bytes[16..24].copy_from_slice(&[0, 0, 0x75, 0, 0, 0, 0x75, 0]);
        assert!(Picture::of(bytes).is_err());
    }

    #[test]
    fn what_can_be_seen_through_is_white_in_a_jpeg() {
        let image = image::RgbaImage::from_pixel(2, 2, image::Rgba([0, 0, 0, 0]));
        let flat = flattened(&DynamicImage::ImageRgba8(image));
        assert_eq!(flat.get_pixel(1, 1), &Rgb([255; 3]));
    }
}
