/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * SECTION:element-proresnvenc
 * @title: proresnvenc
 *
 * Encodes raw video to Apple ProRes (SMPTE RDD 36): 422 Proxy, LT, 422 and HQ
 * from 4:2:2 video, 4444 and 4444 XQ from 4:4:4 video, of 8, 10 or 12 bits.
 * #GstQTMux makes a .mov file of the result. Every frame stands alone, so a
 * file can be cut anywhere.
 *
 * ## Example launch lines
 *
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=250 ! proresnvenc ! qtmux ! filesink location=test.mov
 * ]| Ten seconds of a test pattern as ProRes 422 HQ.
 *
 * |[
 * gst-launch-1.0 filesrc location=in.mp4 ! decodebin ! videoconvert ! proresnvenc profile=lt ! qtmux ! filesink location=out.mov
 * ]| The video of a file as ProRes 422 LT.
 *
 * |[
 * gst-launch-1.0 -e v4l2src ! videoconvert ! queue ! proresnvenc ! qtmux ! filesink location=live.mov
 * ]| Records a camera until Ctrl-C.
 *
 * Since: 0.1
 */
#include "gstproresnvenc.h"

#include "gstproresnvcaps.h"

GST_DEBUG_CATEGORY_STATIC (gst_prores_nv_enc_debug);
#define GST_CAT_DEFAULT gst_prores_nv_enc_debug

/* 0 is kept for a data rate as target. */
typedef enum
{
  RATE_CONTROL_CONSTANT_QUANTIZER = 1
} RateControl;

/* One frame between handle_frame() and the end of its coding. */
typedef struct
{
  GstVideoCodecFrame *frame;
  gboolean late;                /* not to be coded: only told, in its turn */
  GstVideoFrame video;          /* mapped, unless late */
} Slot;

struct _GstProresNvEnc
{
  GstVideoEncoder parent;

  /* Properties, under the object lock; an encoder is opened with them. */
  PnvProfile profile;
  RateControl rate_control;
  guint quantizer, mbs_per_slice, threads, pipeline_depth;
  PnvBackend backend;
  gchar *encoder_id;

  /* Written by the streaming thread while no frame is held. */
  PnvEncoder *enc;
  GstVideoInfo info;
  guint depth;                  /* frames in flight, and slots in use */
  guint tail;                   /* slot of the next frame */

  guint head;                   /* the pushing task's: slot of the oldest */
  Slot slots[PNV_MAX_FRAMES_IN_FLIGHT];

  /* All below is under this lock. The stream lock is never taken inside. */
  GMutex lock;
  GCond changed;
  guint n_queued;               /* slots from head on */
  gboolean pushing;             /* one more frame is with the task */
  gboolean flushing;            /* since FLUSH_START: push nothing */
  gboolean stopping;            /* the task ends, nobody waits */
  GstFlowReturn flow;           /* of the last push, for handle_frame() */
  guint64 n_frames, n_dropped, n_bytes, max_bytes;
  const gchar *backend_name;
};

enum
{
  PROP_0,
  PROP_PROFILE,
  PROP_RATE_CONTROL,
  PROP_QUANTIZER,
  PROP_MBS_PER_SLICE,
  PROP_THREADS,
  PROP_PIPELINE_DEPTH,
  PROP_BACKEND,
  PROP_ENCODER_ID,
  PROP_STATS
};

#define DEFAULT_PROFILE PNV_PROFILE_AUTO
#define DEFAULT_RATE_CONTROL RATE_CONTROL_CONSTANT_QUANTIZER
#define DEFAULT_QUANTIZER 4
#define DEFAULT_MBS_PER_SLICE 8
#define DEFAULT_THREADS 0
#define DEFAULT_PIPELINE_DEPTH 0
#define DEFAULT_BACKEND PNV_BACKEND_AUTO
#define DEFAULT_ENCODER_ID "prnv"

static void gst_prores_nv_enc_finalize (GObject * object);
static GstStateChangeReturn gst_prores_nv_enc_change_state (GstElement *
    element, GstStateChange transition);
static gboolean gst_prores_nv_enc_start (GstVideoEncoder * encoder);
static gboolean gst_prores_nv_enc_stop (GstVideoEncoder * encoder);
static GstCaps *gst_prores_nv_enc_getcaps (GstVideoEncoder * encoder,
    GstCaps * filter);
static gboolean gst_prores_nv_enc_set_format (GstVideoEncoder * encoder,
    GstVideoCodecState * state);
static GstFlowReturn gst_prores_nv_enc_handle_frame (GstVideoEncoder * encoder,
    GstVideoCodecFrame * frame);
static GstFlowReturn gst_prores_nv_enc_pre_push (GstVideoEncoder * encoder,
    GstVideoCodecFrame * frame);
static GstFlowReturn gst_prores_nv_enc_finish (GstVideoEncoder * encoder);
static gboolean gst_prores_nv_enc_flush (GstVideoEncoder * encoder);
static gboolean gst_prores_nv_enc_sink_event (GstVideoEncoder * encoder,
    GstEvent * event);
static gboolean gst_prores_nv_enc_sink_query (GstVideoEncoder * encoder,
    GstQuery * query);
static gboolean gst_prores_nv_enc_propose_allocation (GstVideoEncoder *
    encoder, GstQuery * query);
static gboolean gst_prores_nv_enc_transform_meta (GstVideoEncoder * encoder,
    GstVideoCodecFrame * frame, GstMeta * meta);
static void gst_prores_nv_enc_set_property (GObject * object, guint id,
    const GValue * value, GParamSpec * pspec);
static void gst_prores_nv_enc_get_property (GObject * object, guint id,
    GValue * value, GParamSpec * pspec);

#define GST_TYPE_PRORES_NV_ENC_PROFILE (gst_prores_nv_enc_profile_get_type ())
static GType
gst_prores_nv_enc_profile_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
    {PNV_PROFILE_AUTO, "From the caps: HQ for 4:2:2, 4444 for 4:4:4, "
          "or what downstream asks for", "auto"},
    {PNV_PROFILE_PROXY, "ProRes 422 Proxy", "proxy"},
    {PNV_PROFILE_LT, "ProRes 422 LT", "lt"},
    {PNV_PROFILE_STANDARD, "ProRes 422", "standard"},
    {PNV_PROFILE_HQ, "ProRes 422 HQ", "hq"},
    {PNV_PROFILE_4444, "ProRes 4444", "4444"},
    {PNV_PROFILE_4444XQ, "ProRes 4444 XQ", "4444xq"},
    {0, NULL, NULL}
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type,
        g_enum_register_static ("GstProresNvEncProfile", values));
  return type;
}

#define GST_TYPE_PRORES_NV_ENC_RATE_CONTROL \
    (gst_prores_nv_enc_rate_control_get_type ())
static GType
gst_prores_nv_enc_rate_control_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
    {RATE_CONTROL_CONSTANT_QUANTIZER, "One quantizer, sizes as they come",
        "constant-quantizer"},
    {0, NULL, NULL}
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type,
        g_enum_register_static ("GstProresNvEncRateControl", values));
  return type;
}

#define GST_TYPE_PRORES_NV_ENC_MBS_PER_SLICE \
    (gst_prores_nv_enc_mbs_per_slice_get_type ())
static GType
gst_prores_nv_enc_mbs_per_slice_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
    {1, "1 macroblock", "1"},
    {2, "2 macroblocks", "2"},
    {4, "4 macroblocks", "4"},
    {8, "8 macroblocks, the smallest result", "8"},
    {0, NULL, NULL}
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type,
        g_enum_register_static ("GstProresNvEncMbsPerSlice", values));
  return type;
}

#define GST_TYPE_PRORES_NV_ENC_BACKEND (gst_prores_nv_enc_backend_get_type ())
static GType
gst_prores_nv_enc_backend_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
    {PNV_BACKEND_AUTO, "The fastest one that works here", "auto"},
    {PNV_BACKEND_CPU, "The processors of this computer", "cpu"},
    {PNV_BACKEND_CUDA, "An NVIDIA GPU", "cuda"},
    {0, NULL, NULL}
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type,
        g_enum_register_static ("GstProresNvEncBackend", values));
  return type;
}

G_DEFINE_TYPE (GstProresNvEnc, gst_prores_nv_enc, GST_TYPE_VIDEO_ENCODER);
GST_ELEMENT_REGISTER_DEFINE_WITH_CODE (proresnvenc, "proresnvenc",
    GST_RANK_PRIMARY, GST_TYPE_PRORES_NV_ENC,
    GST_DEBUG_CATEGORY_INIT (gst_prores_nv_enc_debug, "proresnvenc", 0,
        "ProRes encoder"));

static void
install_properties (GObjectClass * object_class)
{
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
      GST_PARAM_MUTABLE_READY;

  /**
   * GstProresNvEnc:profile:
   *
   * With auto, if downstream allows exactly one variant, that one; if it
   * allows several, HQ for 4:2:2 and 4444 for 4:4:4 video when they are among
   * them, else the first that fits.
   *
   * Since: 0.1
   */
  g_object_class_install_property (object_class, PROP_PROFILE,
      g_param_spec_enum ("profile", "Profile",
          "ProRes profile; the 422 ones take 4:2:2 video, 4444 ones 4:4:4",
          GST_TYPE_PRORES_NV_ENC_PROFILE, DEFAULT_PROFILE, flags));

  /**
   * GstProresNvEnc:rate-control:
   *
   * Since: 0.1
   */
  g_object_class_install_property (object_class, PROP_RATE_CONTROL,
      g_param_spec_enum ("rate-control", "Rate control",
          "What decides over the size of a frame",
          GST_TYPE_PRORES_NV_ENC_RATE_CONTROL, DEFAULT_RATE_CONTROL, flags));

  /**
   * GstProresNvEnc:quantizer:
   *
   * The quantization_index of RDD 36 7.3 for all slices.
   *
   * Since: 0.1
   */
  g_object_class_install_property (object_class, PROP_QUANTIZER,
      g_param_spec_uint ("quantizer", "Quantizer",
          "Quantizer of rate-control=constant-quantizer, 1 is the finest",
          1, 224, DEFAULT_QUANTIZER, flags));

  /**
   * GstProresNvEnc:mbs-per-slice:
   *
   * Since: 0.1
   */
  g_object_class_install_property (object_class, PROP_MBS_PER_SLICE,
      g_param_spec_enum ("mbs-per-slice", "Macroblocks per slice",
          "Width of a slice in macroblocks; less is larger files",
          GST_TYPE_PRORES_NV_ENC_MBS_PER_SLICE, DEFAULT_MBS_PER_SLICE, flags));

  /**
   * GstProresNvEnc:threads:
   *
   * Since: 0.1
   */
  g_object_class_install_property (object_class, PROP_THREADS,
      g_param_spec_uint ("threads", "Threads",
          "CPU threads that encode, 0 = as many as there are cores",
          0, PNV_MAX_THREADS, DEFAULT_THREADS, flags));

  /**
   * GstProresNvEnc:pipeline-depth:
   *
   * Since: 0.1
   */
  g_object_class_install_property (object_class, PROP_PIPELINE_DEPTH,
      g_param_spec_uint ("pipeline-depth", "Pipeline depth",
          "Frames in flight, each one frame of latency; "
          "0 = 1 on the CPU, 3 on a GPU",
          0, PNV_MAX_FRAMES_IN_FLIGHT, DEFAULT_PIPELINE_DEPTH, flags));

  /**
   * GstProresNvEnc:backend:
   *
   * Since: 0.1
   */
  g_object_class_install_property (object_class, PROP_BACKEND,
      g_param_spec_enum ("backend", "Backend",
          "What does the work; the result is the same from all",
          GST_TYPE_PRORES_NV_ENC_BACKEND, DEFAULT_BACKEND, flags));

  /**
   * GstProresNvEnc:encoder-id:
   *
   * Since: 0.1
   */
  g_object_class_install_property (object_class, PROP_ENCODER_ID,
      g_param_spec_string ("encoder-id", "Encoder id",
          "Four printable ASCII characters that name the encoder in each frame",
          DEFAULT_ENCODER_ID, flags));

  /**
   * GstProresNvEnc:stats:
   *
   * Since the last start: "frames" (guint64) encoded and handed on, "dropped"
   * (guint64) that were late, "bytes" (guint64) in total, "mean-frame-size"
   * and "max-frame-size" (guint64) in bytes, "backend" (string) in use, "none"
   * before there is one.
   *
   * Since: 0.1
   */
  g_object_class_install_property (object_class, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics",
          "Frames, drops, sizes and the backend in use",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

static void
gst_prores_nv_enc_class_init (GstProresNvEncClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstVideoEncoderClass *encoder_class = GST_VIDEO_ENCODER_CLASS (klass);
  GstCaps *caps;

  object_class->set_property = gst_prores_nv_enc_set_property;
  object_class->get_property = gst_prores_nv_enc_get_property;
  object_class->finalize = gst_prores_nv_enc_finalize;
  install_properties (object_class);

  gst_element_class_set_static_metadata (element_class,
      "ProRes encoder", "Codec/Encoder/Video",
      "Encodes video to Apple ProRes on the CPU or an NVIDIA GPU",
      "proresnvenc contributors");
  caps = gst_prores_nv_sink_template_caps ();
  gst_element_class_add_pad_template (element_class,
      gst_pad_template_new ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
  gst_caps_unref (caps);
  caps = gst_prores_nv_src_template_caps ();
  gst_element_class_add_pad_template (element_class,
      gst_pad_template_new ("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
  gst_caps_unref (caps);

  element_class->change_state =
      GST_DEBUG_FUNCPTR (gst_prores_nv_enc_change_state);
  encoder_class->start = GST_DEBUG_FUNCPTR (gst_prores_nv_enc_start);
  encoder_class->stop = GST_DEBUG_FUNCPTR (gst_prores_nv_enc_stop);
  encoder_class->getcaps = GST_DEBUG_FUNCPTR (gst_prores_nv_enc_getcaps);
  encoder_class->set_format = GST_DEBUG_FUNCPTR (gst_prores_nv_enc_set_format);
  encoder_class->handle_frame =
      GST_DEBUG_FUNCPTR (gst_prores_nv_enc_handle_frame);
  encoder_class->pre_push = GST_DEBUG_FUNCPTR (gst_prores_nv_enc_pre_push);
  encoder_class->finish = GST_DEBUG_FUNCPTR (gst_prores_nv_enc_finish);
  encoder_class->flush = GST_DEBUG_FUNCPTR (gst_prores_nv_enc_flush);
  encoder_class->sink_event = GST_DEBUG_FUNCPTR (gst_prores_nv_enc_sink_event);
  encoder_class->sink_query = GST_DEBUG_FUNCPTR (gst_prores_nv_enc_sink_query);
  encoder_class->propose_allocation =
      GST_DEBUG_FUNCPTR (gst_prores_nv_enc_propose_allocation);
  encoder_class->transform_meta =
      GST_DEBUG_FUNCPTR (gst_prores_nv_enc_transform_meta);

  gst_type_mark_as_plugin_api (GST_TYPE_PRORES_NV_ENC_PROFILE, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_PRORES_NV_ENC_RATE_CONTROL, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_PRORES_NV_ENC_MBS_PER_SLICE, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_PRORES_NV_ENC_BACKEND, 0);
}

static void
gst_prores_nv_enc_init (GstProresNvEnc * self)
{
  /* Caps of the template are let in to be refused with a reason. */
  GST_PAD_SET_ACCEPT_TEMPLATE (GST_VIDEO_ENCODER_SINK_PAD (self));

  self->profile = DEFAULT_PROFILE;
  self->rate_control = DEFAULT_RATE_CONTROL;
  self->quantizer = DEFAULT_QUANTIZER;
  self->mbs_per_slice = DEFAULT_MBS_PER_SLICE;
  self->threads = DEFAULT_THREADS;
  self->pipeline_depth = DEFAULT_PIPELINE_DEPTH;
  self->backend = DEFAULT_BACKEND;
  self->encoder_id = g_strdup (DEFAULT_ENCODER_ID);

  g_mutex_init (&self->lock);
  g_cond_init (&self->changed);
  self->flow = GST_FLOW_OK;
  self->backend_name = "none";
}

static void
gst_prores_nv_enc_finalize (GObject * object)
{
  GstProresNvEnc *self = GST_PRORES_NV_ENC (object);

  g_free (self->encoder_id);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->changed);

  G_OBJECT_CLASS (gst_prores_nv_enc_parent_class)->finalize (object);
}

static void
packet_free (gpointer data)
{
  PnvPacket *packet = data;

  pnv_packet_release (packet);
  g_free (packet);
}

/* The packet's memory becomes the buffer's, without a copy. */
static GstBuffer *
packet_to_buffer (const PnvPacket * packet)
{
  PnvPacket *held = g_new (PnvPacket, 1);
  GstBuffer *buffer = gst_buffer_new ();

  *held = *packet;
  gst_buffer_append_memory (buffer,
      gst_memory_new_wrapped (GST_MEMORY_FLAG_READONLY, (gpointer) held->data,
          held->size, 0, held->size, held, packet_free));
  return buffer;
}

/* Waits until the oldest frame is coded, and frees its slot. The frame comes
 * with its packet, without one if it is late or its coding failed. */
static GstVideoCodecFrame *
take_oldest (GstProresNvEnc * self)
{
  Slot *slot = &self->slots[self->head];
  GstVideoCodecFrame *frame = slot->frame;

  if (!slot->late) {
    PnvPacket packet = { 0 };
    PnvStatus status = pnv_collect (self->enc, &packet);

    g_assert (packet.tag == slot);
    gst_video_frame_unmap (&slot->video);
    if (status == PNV_OK) {
      frame->output_buffer = packet_to_buffer (&packet);
    } else {
      GST_ELEMENT_WARNING (self, STREAM, ENCODE,
          ("A frame could not be encoded and is missing from the result."),
          ("frame at %" GST_TIME_FORMAT ": %s", GST_TIME_ARGS (frame->pts),
              packet.error ? packet.error : "unknown error"));
      pnv_packet_release (&packet);
    }
  }

  g_mutex_lock (&self->lock);
  self->head = (self->head + 1) % self->depth;
  self->n_queued--;
  self->pushing = TRUE;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
  return frame;
}

/* Called with the stream lock. Gives up a frame without a word: an empty
 * buffer is what pre_push() lets nobody see. */
static GstFlowReturn
discard_frame (GstProresNvEnc * self, GstVideoCodecFrame * frame)
{
  gst_buffer_replace (&frame->output_buffer, NULL);
  frame->output_buffer = gst_buffer_new ();
  return gst_video_encoder_finish_frame (GST_VIDEO_ENCODER (self), frame);
}

/* Task of the source pad: pushes each frame as soon as it is coded. It is the
 * only one to push while frames are held, so their order and that of the
 * events between them is kept. */
static void
gst_prores_nv_enc_loop (gpointer data)
{
  GstProresNvEnc *self = data;
  GstVideoEncoder *encoder = data;
  GstVideoCodecFrame *frame;
  GstFlowReturn flow;
  gboolean discard;

  g_mutex_lock (&self->lock);
  while (self->n_queued == 0 && !self->stopping)
    g_cond_wait (&self->changed, &self->lock);
  if (self->stopping) {
    g_mutex_unlock (&self->lock);
    gst_pad_pause_task (GST_VIDEO_ENCODER_SRC_PAD (self));
    return;
  }
  g_mutex_unlock (&self->lock);

  frame = take_oldest (self);

  g_mutex_lock (&self->lock);
  discard = self->flushing || self->stopping || self->flow != GST_FLOW_OK;
  if (!frame->output_buffer && !discard)
    self->n_dropped++;
  g_mutex_unlock (&self->lock);

  if (discard) {
    flow = discard_frame (self, frame);
  } else {
    /* RDD 36 has no other frames. A frame without a buffer is told as
     * dropped, in a QoS message. */
    GST_VIDEO_CODEC_FRAME_SET_SYNC_POINT (frame);
    flow = gst_video_encoder_finish_frame (encoder, frame);
  }

  g_mutex_lock (&self->lock);
  self->pushing = FALSE;
  if (!discard && flow != GST_FLOW_OK) {
    GST_DEBUG_OBJECT (self, "downstream says %s", gst_flow_get_name (flow));
    self->flow = flow;
  }
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
}

/* Called without the stream lock, which the task needs to push. FALSE when
 * the element is being stopped: then frames may still be held. */
static gboolean
wait_until_idle (GstProresNvEnc * self)
{
  gboolean idle;

  g_mutex_lock (&self->lock);
  while ((self->n_queued > 0 || self->pushing) && !self->stopping)
    g_cond_wait (&self->changed, &self->lock);
  idle = self->n_queued == 0 && !self->pushing;
  g_mutex_unlock (&self->lock);
  return idle;
}

/* Called without the stream lock. */
static GstFlowReturn
wait_for_room (GstProresNvEnc * self)
{
  GstFlowReturn flow;

  g_mutex_lock (&self->lock);
  while (self->n_queued >= self->depth && !self->stopping && !self->flushing
      && self->flow == GST_FLOW_OK)
    g_cond_wait (&self->changed, &self->lock);
  flow = self->stopping || self->flushing ? GST_FLOW_FLUSHING : self->flow;
  /* These end when downstream is linked or active again, without a word to
   * us: told once, then the next frame tries. */
  if (self->flow == GST_FLOW_NOT_LINKED || self->flow == GST_FLOW_FLUSHING)
    self->flow = GST_FLOW_OK;
  g_mutex_unlock (&self->lock);
  return flow;
}

static GstStateChangeReturn
gst_prores_nv_enc_change_state (GstElement * element, GstStateChange transition)
{
  GstProresNvEnc *self = GST_PRORES_NV_ENC (element);

  /* Before the pads are deactivated, which waits for both threads. */
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY) {
    g_mutex_lock (&self->lock);
    self->stopping = TRUE;
    g_cond_broadcast (&self->changed);
    g_mutex_unlock (&self->lock);
  }
  return GST_ELEMENT_CLASS (gst_prores_nv_enc_parent_class)->change_state
      (element, transition);
}

static gboolean
encoder_id_is_valid (const gchar * id)
{
  if (!id || strlen (id) != 4)
    return FALSE;
  for (; *id; id++)
    if (!g_ascii_isprint (*id))
      return FALSE;
  return TRUE;
}

static gboolean
check_encoder_id (GstProresNvEnc * self)
{
  gchar *id;
  gboolean valid;

  GST_OBJECT_LOCK (self);
  id = g_strdup (self->encoder_id);
  GST_OBJECT_UNLOCK (self);
  valid = encoder_id_is_valid (id);
  if (!valid)
    GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS,
        ("The encoder id has to be four printable ASCII characters. Set "
            "encoder-id to such a text, for example " DEFAULT_ENCODER_ID "."),
        ("encoder-id=\"%s\"", id ? id : "(null)"));
  g_free (id);
  return valid;
}

static gboolean
gst_prores_nv_enc_start (GstVideoEncoder * encoder)
{
  GstProresNvEnc *self = GST_PRORES_NV_ENC (encoder);

  if (!check_encoder_id (self))
    return FALSE;

  g_mutex_lock (&self->lock);
  self->flushing = self->stopping = FALSE;
  self->flow = GST_FLOW_OK;
  self->n_frames = self->n_dropped = self->n_bytes = self->max_bytes = 0;
  g_mutex_unlock (&self->lock);
  return TRUE;
}

static gboolean
gst_prores_nv_enc_stop (GstVideoEncoder * encoder)
{
  GstProresNvEnc *self = GST_PRORES_NV_ENC (encoder);

  gst_pad_stop_task (GST_VIDEO_ENCODER_SRC_PAD (self));
  while (self->n_queued > 0)
    gst_video_codec_frame_unref (take_oldest (self));
  self->pushing = FALSE;
  pnv_close (&self->enc);
  return TRUE;
}

/* What downstream takes, any caps if nothing is there. */
static GstCaps *
downstream_caps (GstProresNvEnc * self)
{
  return gst_pad_peer_query_caps (GST_VIDEO_ENCODER_SRC_PAD (self), NULL);
}

static GstCaps *
gst_prores_nv_enc_getcaps (GstVideoEncoder * encoder, GstCaps * filter)
{
  GstProresNvEnc *self = GST_PRORES_NV_ENC (encoder);
  GstCaps *downstream = downstream_caps (self), *caps;
  PnvProfile profile;

  GST_OBJECT_LOCK (self);
  profile = self->profile;
  GST_OBJECT_UNLOCK (self);

  caps = gst_prores_nv_sink_caps (profile, downstream);
  if (filter) {
    GstCaps *all = caps;
    caps = gst_caps_intersect_full (filter, all, GST_CAPS_INTERSECT_FIRST);
    if (gst_caps_is_empty (caps))
      GST_WARNING_OBJECT (self, "profile=%s and downstream leave %"
          GST_PTR_FORMAT ", upstream offers %" GST_PTR_FORMAT
          ", downstream takes %" GST_PTR_FORMAT, pnv_profile_name (profile),
          all, filter, downstream);
    gst_caps_unref (all);
  }
  gst_caps_unref (downstream);
  return caps;
}

/* What the caps say that no profile can carry. */
static gboolean
check_info (GstProresNvEnc * self, const GstVideoInfo * info,
    const GstCaps * caps)
{
  if (GST_VIDEO_INFO_INTERLACE_MODE (info) !=
      GST_VIDEO_INTERLACE_MODE_PROGRESSIVE) {
    GST_ELEMENT_ERROR (self, STREAM, WRONG_TYPE,
        ("Interlaced video cannot be encoded yet. Put deinterlace before "
            "proresnvenc."), ("caps %" GST_PTR_FORMAT, caps));
    return FALSE;
  }
  if (gst_prores_nv_is_full_range (info)) {
    GST_ELEMENT_ERROR (self, STREAM, WRONG_TYPE,
        ("ProRes holds video range, this video is full range. Put \"%s\" "
            "before proresnvenc.", gst_prores_nv_full_range_cure (info)),
        ("caps %" GST_PTR_FORMAT, caps));
    return FALSE;
  }
  return TRUE;
}

/* The trap of pipeline descriptions: 4444 is read as a number. */
static const gchar *
variant_hint (const GstCaps * downstream)
{
  for (guint i = 0; i < gst_caps_get_size (downstream); i++)
    if (gst_structure_has_field_typed (gst_caps_get_structure (downstream, i),
            "variant", G_TYPE_INT))
      return " In a pipeline description write variant=(string)4444.";
  return "";
}

/* Auto and an error posted when the property, the caps and downstream cannot
 * agree. */
static PnvProfile
choose_profile (GstProresNvEnc * self, PnvProfile wanted,
    const GstVideoInfo * info, const GstCaps * caps, const GstCaps * downstream)
{
  const PnvChroma chroma =
      gst_prores_nv_format_find (GST_VIDEO_INFO_FORMAT (info))->chroma;
  PnvProfile allowed[GST_PRORES_NV_N_PROFILES], profile;
  const guint n_allowed =
      gst_prores_nv_profiles_allowed (downstream, info, allowed);

  if (wanted != PNV_PROFILE_AUTO
      && gst_prores_nv_profile_chroma (wanted) != chroma) {
    GST_ELEMENT_ERROR (self, STREAM, WRONG_TYPE,
        ("With profile=%s the video has to be %s, but its caps say format=%s, "
            "which is %s. Set profile=auto, or put videoconvert before "
            "proresnvenc.",
            pnv_profile_name (wanted),
            gst_prores_nv_chroma_name (gst_prores_nv_profile_chroma (wanted)),
            gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (info)),
            gst_prores_nv_chroma_name (chroma)),
        ("caps %" GST_PTR_FORMAT, caps));
    return PNV_PROFILE_AUTO;
  }

  profile = gst_prores_nv_profile_choose (chroma, allowed, n_allowed);
  for (guint i = 0; i < n_allowed; i++)
    if (allowed[i] == wanted)
      profile = wanted;
  if (profile == PNV_PROFILE_AUTO
      || (wanted != PNV_PROFILE_AUTO && profile != wanted)) {
    GST_ELEMENT_ERROR (self, STREAM, WRONG_TYPE,
        ("Downstream does not take %dx%d %s video with profile=%s. Change the "
            "profile, the caps after proresnvenc, or put videoconvert before "
            "it.%s", info->width, info->height,
            gst_prores_nv_chroma_name (chroma), pnv_profile_name (wanted),
            variant_hint (downstream)),
        ("caps %" GST_PTR_FORMAT ", downstream takes %" GST_PTR_FORMAT, caps,
            downstream));
    return PNV_PROFILE_AUTO;
  }
  return profile;
}

static void
log_function (gpointer opaque, PnvLogLevel level, const char *text)
{
  static const GstDebugLevel levels[] = { GST_LEVEL_ERROR, GST_LEVEL_WARNING,
    GST_LEVEL_INFO, GST_LEVEL_DEBUG
  };

  GST_CAT_LEVEL_LOG (GST_CAT_DEFAULT, levels[level], opaque, "%s", text);
}

/* Opens the core for this video, with what the properties say now. */
static gboolean
open_encoder (GstProresNvEnc * self, PnvProfile profile, const GstCaps * caps)
{
  PnvParams params = { 0 };
  gchar error[PNV_ERROR_BYTES] = "", *id;
  PnvStatus status;

  gst_prores_nv_params_from_info (&params, &self->info);
  params.profile = profile;
  GST_OBJECT_LOCK (self);
  params.quantizer = self->quantizer;
  params.mbs_per_slice = self->mbs_per_slice;
  params.threads = self->threads;
  params.frames_in_flight = self->pipeline_depth;
  params.backend = self->backend;
  params.encoder_id = id = g_strdup (self->encoder_id);
  GST_OBJECT_UNLOCK (self);
  params.log = log_function;
  params.log_opaque = self;

  status = pnv_open (&self->enc, &params, error);
  g_free (id);
  switch (status) {
    case PNV_OK:
      self->depth = pnv_params (self->enc)->frames_in_flight;
      self->head = self->tail = 0;
      g_mutex_lock (&self->lock);
      self->backend_name = pnv_backend_name (self->enc);
      g_mutex_unlock (&self->lock);
      return TRUE;
    case PNV_ENODEV:
      GST_ELEMENT_ERROR (self, RESOURCE, NOT_FOUND,
          ("No NVIDIA GPU can be used. Set backend=cpu to encode without one."),
          ("%s", error));
      return FALSE;
    case PNV_ENOMEM:
      GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
          ("Memory is not enough to encode this video. Set a lower "
              "pipeline-depth or fewer threads."),
          ("%s; caps %" GST_PTR_FORMAT, error, caps));
      return FALSE;
    default:
      GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS,
          ("This video cannot be encoded as it is: %s.", error),
          ("caps %" GST_PTR_FORMAT, caps));
      return FALSE;
  }
}

/* A frame goes out as soon as it is coded. How long that takes is unknown, but
 * each input waits until fewer than depth frames are in flight: where encoding
 * keeps up with the source, no frame stays longer than depth frame durations,
 * at depth 1 never beyond the arrival of the next one. An unknown rate gives
 * no duration, and none is guessed. */
static void
report_latency (GstProresNvEnc * self)
{
  GstClockTime min = 0, max = GST_CLOCK_TIME_NONE;
  const GstVideoInfo *info = &self->info;

  if (info->fps_n > 0 && !(info->flags & GST_VIDEO_FLAG_VARIABLE_FPS))
    min = max = gst_util_uint64_scale (self->depth * GST_SECOND, info->fps_d,
        info->fps_n);
  gst_video_encoder_set_latency (GST_VIDEO_ENCODER (self), min, max);
}

/* Whether the caps of the source pad arrived: the event that carries them is
 * sticky, so that sending it succeeds even when it is refused. */
static gboolean
peer_has_caps (GstPad * pad)
{
  GstPad *peer = gst_pad_get_peer (pad);
  GstCaps *ours, *theirs;
  gboolean equal;

  if (!peer)
    return TRUE;
  ours = gst_pad_get_current_caps (pad);
  theirs = gst_pad_get_current_caps (peer);
  equal = ours && theirs && gst_caps_is_equal (ours, theirs);
  gst_clear_caps (&ours);
  gst_clear_caps (&theirs);
  gst_object_unref (peer);
  return equal;
}

/* TRUE as well while downstream flushes: finish_frame() negotiates again. */
static gboolean
negotiate_output (GstProresNvEnc * self, GstVideoCodecState * input,
    PnvProfile profile, const GstCaps * downstream)
{
  GstVideoEncoder *encoder = GST_VIDEO_ENCODER (self);
  GstPad *pad = GST_VIDEO_ENCODER_SRC_PAD (self);
  GstVideoCodecState *output = gst_video_encoder_set_output_state (encoder,
      gst_prores_nv_src_caps (profile), input);

  output->info.colorimetry =
      gst_prores_nv_src_colorimetry (&input->info.colorimetry, downstream);
  /* Where the caps say nothing, a GstVideoInfo has a guess. */
  if (!gst_structure_has_field (gst_caps_get_structure (input->caps, 0),
          "chroma-site"))
    output->info.chroma_site = GST_VIDEO_CHROMA_SITE_UNKNOWN;
  gst_video_codec_state_unref (output);

  if ((gst_video_encoder_negotiate (encoder) && peer_has_caps (pad))
      || GST_PAD_IS_FLUSHING (pad))
    return TRUE;
  GST_ELEMENT_ERROR (self, STREAM, WRONG_TYPE,
      ("Downstream refuses this ProRes video. Change the caps before or after "
          "proresnvenc; a file, once begun, keeps its size."),
      ("input caps %" GST_PTR_FORMAT ", profile %s, downstream takes %"
          GST_PTR_FORMAT, input->caps, pnv_profile_name (profile), downstream));
  return FALSE;
}

static gboolean
gst_prores_nv_enc_set_format (GstVideoEncoder * encoder,
    GstVideoCodecState * state)
{
  GstProresNvEnc *self = GST_PRORES_NV_ENC (encoder);
  GstCaps *downstream;
  PnvProfile profile;
  gboolean idle, done = FALSE;

  /* The frames of the old format go out first, under their caps. */
  GST_VIDEO_ENCODER_STREAM_UNLOCK (self);
  idle = wait_until_idle (self);
  GST_VIDEO_ENCODER_STREAM_LOCK (self);
  if (!idle)
    return FALSE;
  pnv_close (&self->enc);

  if (!check_info (self, &state->info, state->caps)
      || !check_encoder_id (self))
    return FALSE;

  downstream = downstream_caps (self);
  GST_OBJECT_LOCK (self);
  profile = self->profile;
  GST_OBJECT_UNLOCK (self);
  profile = choose_profile (self, profile, &state->info, state->caps,
      downstream);
  if (profile == PNV_PROFILE_AUTO)
    goto out;

  self->info = state->info;
  if (!open_encoder (self, profile, state->caps))
    goto out;
  report_latency (self);
  if (!negotiate_output (self, state, profile, downstream)) {
    pnv_close (&self->enc);
    goto out;
  }

  g_mutex_lock (&self->lock);
  if (self->flow == GST_FLOW_NOT_NEGOTIATED)
    self->flow = GST_FLOW_OK;
  g_mutex_unlock (&self->lock);
  done = gst_pad_start_task (GST_VIDEO_ENCODER_SRC_PAD (self),
      gst_prores_nv_enc_loop, self, NULL);

out:
  gst_caps_unref (downstream);
  return done;
}

/* Bytes that are readable from the first sample of a plane on. */
static gsize
plane_bytes (const GstVideoFrame * video, guint plane)
{
  /* Without GstVideoMeta one mapping holds all planes. */
  const GstMapInfo *map = &video->map[video->meta ? plane : 0];
  const guint8 *start = GST_VIDEO_FRAME_PLANE_DATA (video, plane);

  return map->data + map->size - start;
}

/* Where in the picture the frame to code begins: GstVideoCropMeta is obeyed.
 * FALSE if what is left has not the size of the caps. */
static gboolean
find_origin (GstProresNvEnc * self, const GstVideoFrame * video, guint * x,
    guint * y)
{
  const GstVideoCropMeta *crop = gst_buffer_get_video_crop_meta (video->buffer);
  const guint width = self->info.width, height = self->info.height;
  const guint video_width = GST_VIDEO_FRAME_WIDTH (video);
  const guint video_height = GST_VIDEO_FRAME_HEIGHT (video);
  const guint step = 1 << GST_VIDEO_FORMAT_INFO_W_SUB (video->info.finfo, 1);

  *x = crop ? crop->x : 0;
  *y = crop ? crop->y : 0;
  /* The video is at least as large as the caps: map_frame(). */
  if (!crop || (crop->width == width && crop->height == height
          && *x % step == 0 && *x <= video_width - width
          && *y <= video_height - height))
    return TRUE;

  GST_ELEMENT_ERROR (self, STREAM, FORMAT,
      ("A frame is cropped in a way that cannot be encoded. Crop with "
          "videocrop before proresnvenc, at a multiple of %u columns.", step),
      ("crop %u,%u %ux%u of %ux%u; caps %ux%u", crop->x, crop->y, crop->width,
          crop->height, video_width, video_height, width, height));
  return FALSE;
}

/* Planes and strides of a mapped frame; FALSE if they do not hold what the
 * caps promise. */
static gboolean
describe_picture (GstProresNvEnc * self, const GstVideoFrame * video,
    PnvPicture * picture)
{
  const GstVideoFormatInfo *finfo = video->info.finfo;
  guint x, y;

  if (!find_origin (self, video, &x, &y))
    return FALSE;

  for (guint i = 0; i < GST_VIDEO_FRAME_N_PLANES (video); i++) {
    const gsize stride = GST_VIDEO_FRAME_PLANE_STRIDE (video, i);
    const gsize step = GST_VIDEO_FORMAT_INFO_PSTRIDE (finfo, i);
    const gsize columns =
        GST_VIDEO_FORMAT_INFO_SCALE_WIDTH (finfo, i, self->info.width);
    const gsize start = y * stride + (x >> finfo->w_sub[i]) * step;
    const gsize last = start + (self->info.height - 1) * stride;

    if (plane_bytes (video, i) < last + columns * step) {
      GST_ELEMENT_ERROR (self, STREAM, FORMAT,
          ("A buffer is smaller than its caps say. Put videoconvert before "
              "proresnvenc, or correct the element that made it."),
          ("plane %u: %" G_GSIZE_FORMAT " bytes at stride %" G_GSIZE_FORMAT
              ", needed %" G_GSIZE_FORMAT, i, plane_bytes (video, i), stride,
              last + columns * step));
      return FALSE;
    }
    picture->plane[i] =
        (const guint8 *) GST_VIDEO_FRAME_PLANE_DATA (video, i) + start;
    picture->stride[i] = stride;
  }
  return TRUE;
}

/* A frame that its buffer cannot be, whatever is in it. */
static gboolean
check_meta (GstProresNvEnc * self, const GstVideoMeta * meta)
{
  const GstVideoInfo *info = &self->info;

  if (meta->format == GST_VIDEO_INFO_FORMAT (info)
      && meta->width >= (guint) info->width
      && meta->height >= (guint) info->height)
    return TRUE;

  GST_ELEMENT_ERROR (self, STREAM, FORMAT,
      ("A frame is not what its caps say. Put videoconvert before proresnvenc, "
          "or correct the element that made it."),
      ("meta %s %ux%u, caps %s %dx%d",
          gst_video_format_to_string (meta->format), meta->width, meta->height,
          gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (info)),
          info->width, info->height));
  return FALSE;
}

static gboolean
map_frame (GstProresNvEnc * self, GstVideoFrame * video, GstBuffer * buffer)
{
  const GstVideoMeta *meta = gst_buffer_get_video_meta (buffer);

  if (meta && !check_meta (self, meta))
    return FALSE;
  /* No reference: the codec frame in the slot holds the buffer. */
  if (gst_video_frame_map (video, &self->info, buffer,
          (GstMapFlags) (GST_MAP_READ | GST_VIDEO_FRAME_MAP_FLAG_NO_REF)))
    return TRUE;

  if (gst_buffer_get_size (buffer) < GST_VIDEO_INFO_SIZE (&self->info))
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("A buffer is smaller than its caps say. Put videoconvert before "
            "proresnvenc, or correct the element that made it."),
        ("%" G_GSIZE_FORMAT " bytes, caps need %" G_GSIZE_FORMAT,
            gst_buffer_get_size (buffer), GST_VIDEO_INFO_SIZE (&self->info)));
  else
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("A buffer cannot be read as its caps say. Put videoconvert before "
            "proresnvenc."), ("cannot map %" GST_PTR_FORMAT, buffer));
  return FALSE;
}

/* Hands the frame in a free slot to the core. */
static GstFlowReturn
send_frame (GstProresNvEnc * self, Slot * slot)
{
  PnvPicture picture = {.tag = slot };
  PnvStatus status;

  if (!map_frame (self, &slot->video, slot->frame->input_buffer))
    return GST_FLOW_ERROR;
  if (!describe_picture (self, &slot->video, &picture)) {
    gst_video_frame_unmap (&slot->video);
    return GST_FLOW_ERROR;
  }

  status = pnv_stage (self->enc, &picture);
  if (status == PNV_OK)
    status = pnv_submit (self->enc);
  if (status != PNV_OK) {
    gst_video_frame_unmap (&slot->video);
    GST_ELEMENT_ERROR (self, STREAM, ENCODE,
        ("A frame cannot be read as its buffer describes it. Put videoconvert "
            "before proresnvenc."), ("%s", pnv_error (self->enc)));
    return GST_FLOW_ERROR;
  }
  return GST_FLOW_OK;
}

/* Called without the stream lock when there is room. */
static GstFlowReturn
queue_frame (GstProresNvEnc * self, GstVideoCodecFrame * frame)
{
  Slot *slot = &self->slots[self->tail];
  GstFlowReturn flow = GST_FLOW_OK;

  slot->frame = frame;
  /* Too late already: not worth the work, but told in its turn. Never so
   * without qos=true and news of lateness from downstream. */
  slot->late = gst_video_encoder_get_max_encode_time (GST_VIDEO_ENCODER (self),
      frame) < 0;
  if (!slot->late)
    flow = send_frame (self, slot);
  if (flow != GST_FLOW_OK)
    return flow;

  self->tail = (self->tail + 1) % self->depth;
  g_mutex_lock (&self->lock);
  self->n_queued++;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
  return GST_FLOW_OK;
}

static GstFlowReturn
gst_prores_nv_enc_handle_frame (GstVideoEncoder * encoder,
    GstVideoCodecFrame * frame)
{
  GstProresNvEnc *self = GST_PRORES_NV_ENC (encoder);
  GstFlowReturn flow = GST_FLOW_NOT_NEGOTIATED;

  if (self->enc) {
    /* The task needs this lock to push, and only pushing makes room. */
    GST_VIDEO_ENCODER_STREAM_UNLOCK (self);
    flow = wait_for_room (self);
    if (flow == GST_FLOW_OK)
      flow = queue_frame (self, frame);
    GST_VIDEO_ENCODER_STREAM_LOCK (self);
  }
  if (flow != GST_FLOW_OK)
    discard_frame (self, frame);
  return flow;
}

/* The base class calls this last before it pushes, and pushes nothing unless
 * it is told OK. */
static GstFlowReturn
gst_prores_nv_enc_pre_push (GstVideoEncoder * encoder,
    GstVideoCodecFrame * frame)
{
  GstProresNvEnc *self = GST_PRORES_NV_ENC (encoder);
  const gsize bytes = gst_buffer_get_size (frame->output_buffer);

  if (bytes == 0)
    return GST_FLOW_CUSTOM_SUCCESS;     /* discard_frame() */

  g_mutex_lock (&self->lock);
  self->n_frames++;
  self->n_bytes += bytes;
  self->max_bytes = MAX (self->max_bytes, bytes);
  g_mutex_unlock (&self->lock);
  return GST_FLOW_OK;
}

static GstFlowReturn
gst_prores_nv_enc_finish (GstVideoEncoder * encoder)
{
  GstProresNvEnc *self = GST_PRORES_NV_ENC (encoder);
  GstFlowReturn flow;
  gboolean idle;

  GST_VIDEO_ENCODER_STREAM_UNLOCK (self);
  idle = wait_until_idle (self);
  GST_VIDEO_ENCODER_STREAM_LOCK (self);

  g_mutex_lock (&self->lock);
  flow = !idle || self->flushing ? GST_FLOW_FLUSHING : self->flow;
  g_mutex_unlock (&self->lock);
  return flow;
}

/* On FLUSH_STOP, and the base class drops all its frames after. */
static gboolean
gst_prores_nv_enc_flush (GstVideoEncoder * encoder)
{
  GstProresNvEnc *self = GST_PRORES_NV_ENC (encoder);

  g_mutex_lock (&self->lock);
  self->flushing = TRUE;
  g_mutex_unlock (&self->lock);

  GST_VIDEO_ENCODER_STREAM_UNLOCK (self);
  wait_until_idle (self);
  GST_VIDEO_ENCODER_STREAM_LOCK (self);

  g_mutex_lock (&self->lock);
  self->flushing = FALSE;
  self->flow = GST_FLOW_OK;
  g_mutex_unlock (&self->lock);
  return TRUE;
}

static gboolean
gst_prores_nv_enc_sink_event (GstVideoEncoder * encoder, GstEvent * event)
{
  GstProresNvEnc *self = GST_PRORES_NV_ENC (encoder);

  g_mutex_lock (&self->lock);
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_FLUSH_START:
      self->flushing = TRUE;
      g_cond_broadcast (&self->changed);
      break;
    case GST_EVENT_STREAM_START:
      /* Ends an end of stream. */
      if (self->flow == GST_FLOW_EOS)
        self->flow = GST_FLOW_OK;
      break;
    default:
      break;
  }
  g_mutex_unlock (&self->lock);

  return GST_VIDEO_ENCODER_CLASS (gst_prores_nv_enc_parent_class)->sink_event
      (encoder, event);
}

static gboolean
gst_prores_nv_enc_sink_query (GstVideoEncoder * encoder, GstQuery * query)
{
  /* Upstream wants its buffers back; it is the streaming thread, so no frame
   * comes meanwhile. */
  if (GST_QUERY_TYPE (query) == GST_QUERY_DRAIN)
    wait_until_idle (GST_PRORES_NV_ENC (encoder));

  return GST_VIDEO_ENCODER_CLASS (gst_prores_nv_enc_parent_class)->sink_query
      (encoder, query);
}

/* The pool that the base class offers, with as many buffers as are held. */
static gboolean
gst_prores_nv_enc_propose_allocation (GstVideoEncoder * encoder,
    GstQuery * query)
{
  GstProresNvEnc *self = GST_PRORES_NV_ENC (encoder);
  GstBufferPool *pool;
  guint size, min, max;

  if (!GST_VIDEO_ENCODER_CLASS
      (gst_prores_nv_enc_parent_class)->propose_allocation (encoder, query))
    return FALSE;

  if (gst_query_get_n_allocation_pools (query) > 0) {
    gst_query_parse_nth_allocation_pool (query, 0, &pool, &size, &min, &max);
    gst_query_set_nth_allocation_pool (query, 0, pool, size,
        MAX (min, self->depth + 1), max);
    if (pool)
      gst_object_unref (pool);
  }
  if (!gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL))
    gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  return TRUE;
}

/* All metas pass that tell of the frame; the base class itself keeps back
 * those that tell of its memory. A crop has been obeyed already. */
static gboolean
gst_prores_nv_enc_transform_meta (GstVideoEncoder * encoder,
    GstVideoCodecFrame * frame, GstMeta * meta)
{
  return meta->info->api != GST_VIDEO_META_API_TYPE
      && meta->info->api != GST_VIDEO_CROP_META_API_TYPE;
}

static void
gst_prores_nv_enc_set_property (GObject * object, guint id,
    const GValue * value, GParamSpec * pspec)
{
  GstProresNvEnc *self = GST_PRORES_NV_ENC (object);

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_PROFILE:
      self->profile = g_value_get_enum (value);
      break;
    case PROP_RATE_CONTROL:
      self->rate_control = g_value_get_enum (value);
      break;
    case PROP_QUANTIZER:
      self->quantizer = g_value_get_uint (value);
      break;
    case PROP_MBS_PER_SLICE:
      self->mbs_per_slice = g_value_get_enum (value);
      break;
    case PROP_THREADS:
      self->threads = g_value_get_uint (value);
      break;
    case PROP_PIPELINE_DEPTH:
      self->pipeline_depth = g_value_get_uint (value);
      break;
    case PROP_BACKEND:
      self->backend = g_value_get_enum (value);
      break;
    case PROP_ENCODER_ID:
      g_free (self->encoder_id);
      self->encoder_id = g_value_dup_string (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

static GstStructure *
make_stats (GstProresNvEnc * self)
{
  GstStructure *stats;

  g_mutex_lock (&self->lock);
  stats = gst_structure_new ("proresnvenc-stats",
      "frames", G_TYPE_UINT64, self->n_frames,
      "dropped", G_TYPE_UINT64, self->n_dropped,
      "bytes", G_TYPE_UINT64, self->n_bytes,
      "mean-frame-size", G_TYPE_UINT64,
      self->n_frames ? self->n_bytes / self->n_frames : (guint64) 0,
      "max-frame-size", G_TYPE_UINT64, self->max_bytes,
      "backend", G_TYPE_STRING, self->backend_name, NULL);
  g_mutex_unlock (&self->lock);
  return stats;
}

static void
gst_prores_nv_enc_get_property (GObject * object, guint id, GValue * value,
    GParamSpec * pspec)
{
  GstProresNvEnc *self = GST_PRORES_NV_ENC (object);

  if (id == PROP_STATS) {
    g_value_take_boxed (value, make_stats (self));
    return;
  }

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_PROFILE:
      g_value_set_enum (value, self->profile);
      break;
    case PROP_RATE_CONTROL:
      g_value_set_enum (value, self->rate_control);
      break;
    case PROP_QUANTIZER:
      g_value_set_uint (value, self->quantizer);
      break;
    case PROP_MBS_PER_SLICE:
      g_value_set_enum (value, self->mbs_per_slice);
      break;
    case PROP_THREADS:
      g_value_set_uint (value, self->threads);
      break;
    case PROP_PIPELINE_DEPTH:
      g_value_set_uint (value, self->pipeline_depth);
      break;
    case PROP_BACKEND:
      g_value_set_enum (value, self->backend);
      break;
    case PROP_ENCODER_ID:
      g_value_set_string (value, self->encoder_id);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}
